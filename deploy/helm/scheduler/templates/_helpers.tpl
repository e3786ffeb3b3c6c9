{{- define "scheduler.tag" -}}
{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "scheduler.config" -}}
{{ .Values.configMap | default (printf "%s-config" .Release.Name) }}
{{- end }}

{{- /* The metadata of a pod: `root`, and the `labels` that selectors name. A changed setting replaces the pods. */}}
{{- define "scheduler.metadata" -}}
{{- $annotations := deepCopy .root.Values.podAnnotations }}
{{- if not .root.Values.configMap }}
{{- $annotations = set $annotations "checksum/config" (.root.Values.settings | toJson | sha256sum) }}
{{- end -}}
labels: { {{ .labels }}{{ range $name, $value := .root.Values.podLabels }}, {{ $name }}: {{ $value | quote }}{{ end }} }
{{- with $annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* What every pod has: `root`, and the part's own `pod`. */}}
{{- define "scheduler.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false # no variables named after the Services of the namespace, which could be taken for settings
{{- with .root.Values.serviceAccount }}
{{- with .name | default (ternary $.root.Release.Name "" .create) }}
serviceAccountName: {{ . }}
{{- end }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - { name: {{ . }} }
{{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  seccompProfile: { type: RuntimeDefault }
{{- with mergeOverwrite (deepCopy .root.Values.pod) .pod }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* What every container has. */}}
{{- define "scheduler.container" -}}
image: {{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ else }}:{{ include "scheduler.tag" . }}{{ end }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
envFrom:
  - configMapRef: { name: {{ include "scheduler.config" . }} }
  - secretRef: { name: {{ .Values.secret }} }
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: tmp, mountPath: /tmp }
{{- range $secret, $path := .Values.files }}
  - { name: {{ $secret }}, mountPath: {{ $path }}, readOnly: true }
{{- end }}
{{- end }}

{{- /* The volumes: `root`, and the size of /tmp. */}}
{{- define "scheduler.volumes" -}}
- name: tmp
  emptyDir: { medium: Memory, sizeLimit: {{ .tmp }} }
{{- range $secret, $path := .root.Values.files }}
- name: {{ $secret }}
  secret: { secretName: {{ $secret }} }
{{- end }}
{{- end }}

{{- /* Pods of one part stand on many nodes: `labels` selects them. */}}
{{- define "scheduler.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: { {{ . }} }
{{- end }}
