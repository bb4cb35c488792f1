"""Alerts: which episodes become messages, what the messages say, and how they are delivered; and the deliveries of webhooks.

Never: what a rule or an episode is (`watch`). Entry points: `alert_router` makes alerts of episodes and writes their
messages into the outbox, with the decisions of `routing`, which is pure; `alert_delivery` sends what is in the outbox through
`senders`, and `webhook_delivery` what is in that of webhooks, both as an `outbox_worker`; `route_trial`
says what a route would have sent in the past.
"""
