{{- define "normstat.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "normstat.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Agents are no servers: the Service must not find them. */}}
{{- define "normstat.agentSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}-agent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The name of the Service in the cluster. */}}
{{- define "normstat.serviceHost" -}}
{{ include "normstat.fullname" . }}.{{ .Release.Namespace }}.svc
{{- end -}}

{{- define "normstat.serviceUrl" -}}
{{ ternary "https" "http" (ne .Values.tls.secretName "") }}://{{ include "normstat.serviceHost" . }}:{{ .Values.service.port }}
{{- end -}}

{{- define "normstat.labels" -}}
{{ include "normstat.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "normstat.secretName" -}}
{{- if .Values.secret.existing -}}
{{- if .Values.secret.values -}}
{{- fail "set secret.existing or secret.values, not both" -}}
{{- end -}}
{{- .Values.secret.existing -}}
{{- else -}}
{{- include "normstat.fullname" . -}}
{{- end -}}
{{- end -}}

{{/* What the container of the migration and that of the server have in common. */}}
{{- define "normstat.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
envFrom:
  - configMapRef:
      name: {{ include "normstat.fullname" . }}
  - secretRef:
      name: {{ include "normstat.secretName" . }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
{{- end -}}
