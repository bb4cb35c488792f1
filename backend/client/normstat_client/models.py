"""Types of answers. Made by generate_models.py of the OpenAPI document: change nothing here."""

from typing import Any, Literal, TypedDict, Union

# fmt: off
BaselineInfo = TypedDict('BaselineInfo', {'archived_at': Union[str, None], 'created_at': str, 'created_by': str, 'excluded': list["ExcludedWindow"], 'group': Union[str, None], 'hosts': list[str], 'id': int, 'is_rolling': bool, 'name': str, 'note': str, 'profile': Union["ProfileInfo", None], 'recording_until': Union[str, None], 'rule': Union["RuleInfo", None], 'time_zone': str, 'updated_at': str, 'version': int, 'windows': list["Window"]})
BaselineList = TypedDict('BaselineList', {'baselines': list["BaselineInfo"]})
ChangeRatios = TypedDict('ChangeRatios', {'bottom': float, 'load': float, 'missing': float, 'shape': float, 'step': float, 'still': float, 'top': float, 'value': float})
Circumstance = TypedDict('Circumstance', {'artefact': Union[int, None], 'command': Union[str, None], 'end_ms': Union[int, None], 'host': str, 'kind': Literal['event', 'observer', 'no_samples', 'lost_bytes', 'rejected_lines'], 'sentence': str, 'start_ms': Union[int, None], 'stream_id': Union[int, None]})
Command = TypedDict('Command', {'command': str, 'keep': str, 'needs': str, 'note': str, 'source': str})
ComparedBaseline = TypedDict('ComparedBaseline', {'baseline_id': Union[int, None], 'group': Union[str, None], 'host': Union[str, None], 'kind': Literal['baseline', 'window', 'ago', 'host', 'group'], 'members': list[str], 'name': str, 'version': Union[int, None], 'windows': list["Window"]})
Comparison = TypedDict('Comparison', {'against': "ComparedBaseline", 'appeared': list["UnmatchedSeries"], 'circumstances': list["Circumstance"], 'counts': "Counts", 'disappeared': list["UnmatchedSeries"], 'divisor': Union[str, None], 'divisor_note': str, 'elapsed_ms': int, 'end': str, 'groups': list["FindingGroup"], 'hosts': list[str], 'insufficient_data': list["InsufficientData"], 'is_seasonal': bool, 'method_version': int, 'muted': list["MutedFinding"], 'n_findings': int, 'n_groups': int, 'n_series': int, 'n_unchanged': int, 'notes': list[str], 'seasonal_note': str, 'sides': "Sides", 'spec_versions': dict[str, int], 'start': str, 'stories': list["Story"], 'verdict': str})
Counts = TypedDict('Counts', {'appeared': int, 'disappeared': int, 'insufficient_data': int, 'muted': int})
Effect = Literal['none', 'light', 'heavy']
Empty = TypedDict('Empty', {})
EventKind = Literal['reboot', 'kernel', 'hardware', 'setting', 'limit', 'storage', 'network', 'zone', 'system', 'note', 'deployment', 'maintenance', 'incident', 'log', 'clock', 'tool', 'tracer', 'artefact']
EventPage = TypedDict('EventPage', {'events': list["HostEvent"], 'has_facts': bool, 'n_total': int})
EventSource = Literal['user', 'api', 'cli', 'agent', 'import', 'facts', 'artefact']
ExcludedWindow = TypedDict('ExcludedWindow', {'end': str, 'exclusion_id': int, 'host': Union[str, None], 'name': str, 'start': str})
FieldInfo = TypedDict('FieldInfo', {'column': str, 'decimals': int, 'group': str, 'help': str, 'is_documented': bool, 'key': str, 'kind': Literal['gauge', 'rate', 'counter', 'percent', 'count', 'time'], 'meanings': list[str], 'semantics': Literal['counter', 'instant', 'rate'], 'source': str, 'unit': str, 'worse': Literal['higher', 'lower', 'neither']})
Finding = TypedDict('Finding', {'anomaly_score': float, 'baseline': "SideValues", 'change': float, 'change_ratio': float, 'change_ratios': "ChangeRatios", 'change_scale': float, 'direction': Literal['up', 'down', 'same'], 'explained_by_load': float, 'impact': float, 'incident': "SideValues", 'instance': str, 'is_worse': Union[bool, None], 'kind': Literal['level', 'spread', 'shape', 'top', 'bottom', 'stall', 'spikes', 'movement', 'frozen', 'saturated', 'trend', 'missing', 'appeared', 'disappeared', 'zero', 'rhythm'], 'sentence': str, 'significance': float, 'sparkline': Union["Sparkline", None]})
FindingGroup = TypedDict('FindingGroup', {'anomaly_score': float, 'change_ratio': float, 'column': str, 'direction': Literal['up', 'down', 'same'], 'field': str, 'help': str, 'host': str, 'impact': float, 'instances': list[str], 'is_worse': Union[bool, None], 'kind': Literal['level', 'spread', 'shape', 'top', 'bottom', 'stall', 'spikes', 'movement', 'frozen', 'saturated', 'trend', 'missing', 'appeared', 'disappeared', 'zero', 'rhythm'], 'members': list["Finding"], 'n_instances': int, 'n_members': int, 'questions': list["Question"], 'rank': int, 'related': list[str], 'sentence': str, 'significance': float, 'stat': str, 'subsystem': Literal['cpu', 'memory', 'disk', 'network', 'process', 'system', 'other'], 'unit': str})
HostEvent = TypedDict('HostEvent', {'artefact': Union[int, None], 'at': str, 'author': str, 'effect': Union["Effect", None], 'end': Union[str, None], 'hosts': Union[list[str], None], 'id': Union[int, None], 'kind': "EventKind", 'not_before': Union[str, None], 'source': "EventSource", 'tags': list[str], 'text': str})
HostInfo = TypedDict('HostInfo', {'agent_tags': list[str], 'agent_version': str, 'clock_offset_s': Union[float, None], 'created_at': str, 'first_sample_at': Union[str, None], 'has_reject_rise': bool, 'last_sample_at': Union[str, None], 'last_seen_at': Union[str, None], 'n_rejected': int, 'n_rejected_hour_before': int, 'n_rejected_last_hour': int, 'n_streams': int, 'n_streams_live': int, 'name': str, 'os': str, 'state': "StreamState", 'stats': list[str], 'tags': list[str]})
HostList = TypedDict('HostList', {'hosts': list["HostInfo"]})
InsufficientData = TypedDict('InsufficientData', {'field': str, 'host': str, 'instance': str, 'n_baseline': int, 'n_incident': int, 'reason': str, 'stat': str})
MutedFinding = TypedDict('MutedFinding', {'change_ratio': float, 'field': str, 'host': str, 'instance': str, 'significance': float, 'stat': str})
PanelInfo = TypedDict('PanelInfo', {'fields': list[str], 'instances': str, 'is_stacked': bool, 'key': str, 'section': Literal['cpu', 'memory', 'disk', 'network', 'process', 'lock', 'trace', 'other'], 'title': str})
ProfileInfo = TypedDict('ProfileInfo', {'message': str, 'n_done': int, 'n_total': int, 'state': Literal['failed', 'stopped', 'running', 'queued', 'done']})
Question = TypedDict('Question', {'commands': list["Command"], 'why': str})
RuleInfo = TypedDict('RuleInfo', {'duration_s': int, 'keep_days': int, 'rrule': str, 'start': str})
SideCoverage = TypedDict('SideCoverage', {'covered_s': float, 'n_rows_skipped': int, 'n_samples': int})
SideValues = TypedDict('SideValues', {'highest': Union[float, None], 'lowest': Union[float, None], 'mean': Union[float, None], 'median': Union[float, None], 'n': int, 'p5': Union[float, None], 'p95': Union[float, None], 'p99': Union[float, None], 'quantiles': Union[list[float], None]})
Sides = TypedDict('Sides', {'baseline': "SideCoverage", 'incident': "SideCoverage"})
Sparkline = TypedDict('Sparkline', {'baseline': Union["SparklineColumns", None], 'end_ms': int, 'high': list[Union[float, None]], 'low': list[Union[float, None]], 'start_ms': int})
SparklineColumns = TypedDict('SparklineColumns', {'high': list[Union[float, None]], 'low': list[Union[float, None]]})
StatInfo = TypedDict('StatInfo', {'commands': list[str], 'fields': list["FieldInfo"], 'instance_title': str, 'name': str, 'os': str, 'panels': list["PanelInfo"], 'shape': Literal['table', 'keys', 'stacks', 'histogram'], 'spec': str, 'title': str, 'tool': str})
StatList = TypedDict('StatList', {'stats': list["StatInfo"]})
Story = TypedDict('Story', {'also_seen_by': list[str], 'anomaly_score': float, 'hosts': list[str], 'impact': float, 'is_worse': Union[bool, None], 'lines': list["StoryLine"], 'onset_ms': Union[int, None], 'processes': list["StoryProcess"], 'rank': int, 'ranks': list[int], 'sentence': str, 'significance': float, 'title': str, 'topic': str})
StoryLine = TypedDict('StoryLine', {'rank': int, 'role': Literal['work', 'busy', 'latency', 'wait', 'errors', 'detail'], 'text': str})
StoryProcess = TypedDict('StoryProcess', {'change': Literal['new', 'gone', 'more', 'less'], 'host': str, 'instance': str, 'name': str, 'origin': str, 'pids': list[int], 'sentence': str, 'start_ms': Union[int, None], 'stat': str})
StreamState = Literal['live', 'late', 'silent', 'recorded']
UnmatchedSeries = TypedDict('UnmatchedSeries', {'field': str, 'host': str, 'instance': str, 'n': int, 'sentence': str, 'stat': str})
Window = TypedDict('Window', {'end': str, 'start': str})
