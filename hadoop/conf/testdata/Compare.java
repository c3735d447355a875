import java.io.File;
import java.util.Map;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.HdfsConfiguration;

/** Prints what Hadoop reads: the properties in directories. */
public class Compare {
	public static void main(String[] args) throws Exception {
		new HdfsConfiguration(); // knows the deprecated names
		for (String dir : args) {
			System.out.println("== " + new File(dir).getName());
			try {
				System.out.print(properties(dir));
			} catch (RuntimeException e) {
				System.out.println("refused");
			}
		}
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
