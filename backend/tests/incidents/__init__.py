"""Tests of what is remembered of incidents, and of how changes are judged."""
