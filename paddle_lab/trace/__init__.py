"""The record: columns, their schema, and the bytes they are saved and sent as."""
