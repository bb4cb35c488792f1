"""A comparison as one HTML file that needs nothing else. Never: computing findings. Entry point: `report_page`."""
