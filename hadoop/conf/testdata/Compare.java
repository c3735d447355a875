import java.io.File;
import java.util.Map;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.HdfsConfiguration;

/** Prints what Hadoop reads: the properties in directories, or "umask" and values of fs.permissions.umask-mode. */
public class Compare {
	public static void main(String[] args) throws Exception {
		new HdfsConfiguration(); // knows the deprecated names
		boolean umask = args[0].equals("umask");
		for (int i = umask ? 1 : 0; i < args.length; i++) {
			System.out.println("== " + (umask ? args[i] : new File(args[i]).getName()));
			try {
				System.out.print(umask ? umask(args[i]) : properties(args[i]));
			} catch (RuntimeException e) {
				System.out.println("refused");
			}
		}
	}

	static String umask(String value) {
		Configuration c = new Configuration(false);
		c.set("fs.permissions.umask-mode", value);
		return String.format("%04o\n", FsPermission.getUMask(c).toShort());
	}

	static String properties(String dir) {
		Configuration c = new Configuration(false);
		for (String name : new String[] {"core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml"}) {
			File file = new File(dir, name);
			if (file.exists()) {
				c.addResource(new Path(file.toURI()));
			}
		}
		TreeSet<String> names = new TreeSet<>();
		for (Map.Entry<String, String> e : c) {
			names.add(e.getKey());
		}
		StringBuilder out = new StringBuilder();
		for (String name : names) {
			String value;
			try {
				value = c.get(name);
			} catch (IllegalStateException e) { // the references do not end
				value = c.getRaw(name);
			}
			if (value != null) {
				out.append(name + "=\"" + value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", "\\t") + "\"\n");
			}
		}
		return out.toString();
	}
}
