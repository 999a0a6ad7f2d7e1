-- PostgreSQL runs this once, when it makes its folder. POSTGRES_DB is the requester site's.
CREATE DATABASE marketplace OWNER captions;
