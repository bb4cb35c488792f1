"""Reports: a comparison as one HTML file or as PDF, and the reports of people.

A note is frozen as blocks (`blocks`), which `block_html` draws as HTML and `pdf` as PDF. Never: computing findings. Entry
points: `report_page`, `pdf`, `report_document`.
"""
