"""Users, teams, roles and rights, sign-in and tokens; what all pages share."""
