"""Load files and archives of tool output that was recorded elsewhere.

Responsible for: scanning an archive, detecting what each file is, loading it by the path that agents' data takes. Never:
reading tool output itself (`stats`). Entry points: `scan` looks, `load` stores, `import_queue` works in the background.
"""
