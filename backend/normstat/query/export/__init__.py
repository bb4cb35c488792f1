"""Samples as CSV or Parquet, digit for digit as the tool printed them. Entry points: `csv_export`, `parquet_export`."""
