"""The record: its columns, their schema, and its bytes in files and messages."""
