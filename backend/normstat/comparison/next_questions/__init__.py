"""What to look at next: rules that lead from a finding to the command that answers the next question.

The rules are data (`questions.toml`). Never: scoring or wording of findings. Entry point: `questions`.
"""
