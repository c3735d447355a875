# Source this, and hadoop is the one of the cluster in this folder.
export HADOOP_HOME='{{.Dir}}'
export HADOOP_CONF_DIR='{{.Dir}}/conf'
export JAVA_HOME='{{.JavaHome}}'
{{- if .Secure}}
export KRB5_CONFIG='{{.Dir}}/krb5.conf'
{{- end}}
export PATH='{{.Dir}}/bin':"$PATH"
