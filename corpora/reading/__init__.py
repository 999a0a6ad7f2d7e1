"""Read files from outside: turn their bytes into text, rows and values.

- `files` opens a file and detects its encoding
- `tables` reads CSV and similar tables
- `blocks` reads large CSV files as columns
- `json_files` reads whole documents
- `entries` reads a list of entries from a table, JSON lines or a JSON array

Every fault of a file is raised as MalformedFile, with the line number that an editor shows
(docs/decisions/0021).
"""
