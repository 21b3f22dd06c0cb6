import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.io.IOUtils;

/**
 * One namenode and two datanodes on loopback, until the process is ended.
 *
 * Arguments: folder, port of the namenode, port at which Hadoop's own client can be asked over HTTP:
 * GET gives a file's bytes and its owner in a header, or the names in a directory; PUT makes a file.
 * {@code /open} is everybody's, {@code /closed} only of the user who runs this.
 */
public final class Cluster {
  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new Configuration();
    for (String address : new String[] {"address", "ipc.address", "http.address"}) {
      configuration.set("dfs.datanode." + address, "127.0.0.1:0");
    }
    configuration.set("dfs.namenode.rpc-bind-host", "127.0.0.1");
    configuration.set("dfs.namenode.http-address", "127.0.0.1:0");
    // On one machine a client is faster than the datanodes' reports, and would wait 0.5 s for each.
    configuration.set("dfs.namenode.file.close.num-committed-allowed", "1");
    // A long directory is told in parts; 1000 entries of one would take seconds.
    configuration.set("dfs.ls.limit", "100");
    // Small blocks, so that values of a few megabytes have several.
    configuration.set("dfs.blocksize", "1048576");
    MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(configuration, new File(arguments[0]))
            .nameNodePort(Integer.parseInt(arguments[1]))
            .numDataNodes(2)
            .checkDataNodeAddrConfig(true)
            .build();
    cluster.waitActive();
    folder(cluster, "/open", 0777);
    folder(cluster, "/closed", 0700);
    InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[2]));
    HttpServer server = HttpServer.create(address, 0);
    server.createContext("/", exchange -> answer(cluster.getFileSystem(), exchange));
    server.start();
    System.out.println("the cluster is active");
    Thread.currentThread().join();
  }

  private static void folder(MiniDFSCluster cluster, String name, int mode) throws Exception {
    cluster.getFileSystem().mkdirs(new Path(name));
    cluster.getFileSystem().setPermission(new Path(name), new FsPermission((short) mode));
  }

  private static void answer(FileSystem files, HttpExchange exchange) throws IOException {
    Path path = new Path(exchange.getRequestURI().getPath());
    ByteArrayOutputStream found = new ByteArrayOutputStream();
    if (exchange.getRequestMethod().equals("PUT")) {
      try (OutputStream file = files.create(path)) {
        exchange.getRequestBody().transferTo(file);
      }
    } else if (!files.exists(path)) {
      exchange.sendResponseHeaders(404, -1);
      return;
    } else if (files.getFileStatus(path).isDirectory()) {
      for (FileStatus status : files.listStatus(path)) {
        found.write((status.getPath().getName() + "\n").getBytes("UTF-8"));
      }
    } else {
      exchange.getResponseHeaders().set("Owner", files.getFileStatus(path).getOwner());
      try (FSDataInputStream file = files.open(path)) {
        IOUtils.copyBytes(file, found, 65536);
      }
    }
    exchange.sendResponseHeaders(200, found.size() == 0 ? -1 : found.size());
    exchange.getResponseBody().write(found.toByteArray());
    exchange.close();
  }
}
