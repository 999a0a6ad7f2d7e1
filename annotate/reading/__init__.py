"""Files from outside: the one place that turns their bytes into text, rows and values.

`files` opens a file and finds its encoding, `tables` reads CSV and its relatives, `blocks` reads
large CSV files by columns, `json_files` and `toml_files` read whole documents, and `entries` reads
a list of entries from a table, from JSON lines or from a JSON array. Whatever is wrong with a file
is raised as MalformedFile, with the line that an editor shows (docs/decisions/0021).
"""
