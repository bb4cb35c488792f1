"""Next questions: rules that lead from a finding to the commands that answer the next question.

The rules are data: questions.toml. Never: scoring or wording of findings. Entry point: `questions`.
"""
