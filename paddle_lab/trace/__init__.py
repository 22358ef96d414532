"""The record: its tables, their schema, and the bytes in files and messages."""
