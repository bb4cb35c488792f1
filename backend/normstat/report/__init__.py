"""Reports: a comparison as one HTML file or as PDF, and the reports of people.

A note is frozen as blocks (blocks.py), which block_html.py and block_pdf.py draw. Never: computing findings. Entry points:
`report_page`, `comparison_pdf`, `report_document`.
"""
