"""One module for each way to deliver a message; each says whether it was accepted, and whether another try makes sense.

Never: the database; when to try again. Entry point: `channel_sender`.
"""
