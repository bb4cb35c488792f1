"""Rules: conditions over what fields measure, each with its states, actions and explanations, evaluated on recorded samples.

Never: SQL; sending messages. Entry point: rule_file.py says what a rule is; expression.py its conditions, rule_frame.py
the samples they are evaluated on, rule_run.py states and episodes, past.py a rule over a window of a host. builtin/ has rules.
"""
