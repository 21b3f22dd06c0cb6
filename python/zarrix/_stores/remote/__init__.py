"""Stores on S3, GCS, Azure, HDFS and HTTP servers, read and written by the engine."""
