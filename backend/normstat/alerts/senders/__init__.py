"""One module for each way to deliver a message. Each says whether it was accepted, and whether another try makes sense."""
