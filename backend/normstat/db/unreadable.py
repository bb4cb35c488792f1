"""Errors of PostgreSQL for pages and rows that it cannot read: checksums, lost pieces of long values or files, absurd lengths."""

from typing import Final

from psycopg import errors

UNREADABLE: Final = (errors.DataCorrupted, errors.IndexCorrupted, errors.IoError, errors.UndefinedFile, errors.InternalError_)
