"""The record: its tables, their schema, and its bytes in files and messages."""
