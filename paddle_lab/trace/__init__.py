"""The record: its tables, the schema of the tables, and the bytes in files and messages."""
