#!/bin/sh
# Stands in for hadoop, hdfs, yarn and mapred of a Hadoop {{.Version}}: the jars
# that Maven brings have no scripts. Written by treereduce's cluster.
if [ $# -eq 0 ]; then
	echo 'usage: hadoop jar JAR [CLASS] [ARGUMENTS] | fs … | distcp … | version | classpath | CLASS …' >&2
	echo '       hdfs dfs|dfsadmin|fsck|haadmin …' >&2
	echo '       yarn application|node|queue|rmadmin|jar …' >&2
	echo '       mapred job|streaming …' >&2
	exit 1
fi
self=${0##*/}
command=$1
shift
case $self.$command in
*.jar) class=org.apache.hadoop.util.RunJar ;;
*.fs | *.dfs) class=org.apache.hadoop.fs.FsShell ;;
*.distcp) class=org.apache.hadoop.tools.DistCp ;;
*.dfsadmin) class=org.apache.hadoop.hdfs.tools.DFSAdmin ;;
*.fsck) class=org.apache.hadoop.hdfs.tools.DFSck ;;
*.haadmin) class=org.apache.hadoop.hdfs.tools.DFSHAAdmin ;;
*.version) class=org.apache.hadoop.util.VersionInfo ;;
mapred.job) class=org.apache.hadoop.mapred.JobClient ;;
mapred.streaming) class=org.apache.hadoop.util.RunJar; set -- {{.Dir}}/bin/hadoop-streaming.jar "$@" ;;
yarn.application | yarn.app | yarn.applicationattempt | yarn.container)
	class=org.apache.hadoop.yarn.client.cli.ApplicationCLI; set -- "$command" "$@" ;;
yarn.node) class=org.apache.hadoop.yarn.client.cli.NodeCLI ;;
yarn.queue) class=org.apache.hadoop.yarn.client.cli.QueueCLI ;;
yarn.rmadmin) class=org.apache.hadoop.yarn.client.cli.RMAdminCLI ;;
*.classpath) echo '{{.ClassPath}}'; exit ;;
*.*.*) class=$command ;;
*)
	echo "ERROR: $command is not COMMAND nor fully qualified CLASSNAME." >&2
	exit 1 ;;
esac
export HADOOP_HOME='{{.Dir}}' HADOOP_CONF_DIR='{{.Dir}}/conf'
exec '{{.JavaHome}}/bin/java' {{.JavaOpts}} {{.QuickStart}} \
	{{if .Secure}}-Djava.security.krb5.conf="${KRB5_CONFIG:-{{.Dir}}/krb5.conf}" {{end -}}
	$HADOOP_OPTS $HADOOP_CLIENT_OPTS \
	-cp '{{.ClassPath}}'"${HADOOP_CLASSPATH:+:$HADOOP_CLASSPATH}" "$class" "$@"
