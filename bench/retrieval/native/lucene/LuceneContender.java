import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.Version;

/**
 * Lucene: BM25 k1 .9, b .4 (lengths in one byte), one thread, merged into one segment. Prints one JSON line.
 *
 * <p>Arguments: track ("terms": our analyzer's terms, split at blanks; "text": its EnglishAnalyzer), corpus, questions,
 * seconds. The passages' text is not stored, only the id; every hit's id is read.
 */
public final class LuceneContender {
  private static final int K = 10;
  private static final int COMPARED = 300;

  public static void main(String[] arguments) throws Exception {
    Analyzer analyzer =
        arguments[0].equals("text") ? new EnglishAnalyzer() : new WhitespaceAnalyzer();
    Path folder = Files.createTempDirectory("agentrl-bench-lucene");
    long start = processorNanos();
    build(folder, analyzer, Path.of(arguments[1]));
    double buildSeconds = (processorNanos() - start) / 1e9;
    long bytes = sizeOf(folder);
    List<String> questions = new ArrayList<>();
    try (BufferedReader lines = Files.newBufferedReader(Path.of(arguments[2]))) {
      for (String line; (line = lines.readLine()) != null; ) questions.add(new Json(line).string());
    }
    try (DirectoryReader reader = DirectoryReader.open(new MMapDirectory(folder))) {
      IndexSearcher searcher = new IndexSearcher(reader);
      searcher.setSimilarity(new BM25Similarity(0.9f, 0.4f));
      searcher.setQueryCache(null);
      ask(searcher, analyzer, questions, Double.parseDouble(arguments[3]), buildSeconds, bytes);
    } finally {
      remove(folder);
    }
  }

  private static void build(Path folder, Analyzer analyzer, Path corpus) throws Exception {
    IndexWriterConfig config = new IndexWriterConfig(analyzer);
    config.setSimilarity(new BM25Similarity(0.9f, 0.4f));
    config.setRAMBufferSizeMB(512);
    config.setMergeScheduler(new SerialMergeScheduler());
    FieldType searched = new FieldType();
    searched.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
    searched.setTokenized(true);
    searched.freeze();
    try (IndexWriter writer = new IndexWriter(new MMapDirectory(folder), config);
        BufferedReader lines = Files.newBufferedReader(corpus)) {
      for (String line; (line = lines.readLine()) != null; ) {
        String id = "";
        String title = "";
        String text = "";
        Json json = new Json(line);
        for (String key; (key = json.key()) != null; ) {
          String value = json.string();
          if (key.equals("id")) id = value;
          else if (key.equals("title")) title = value;
          else text = value;
        }
        Document document = new Document();
        document.add(new StoredField("id", id));
        document.add(new Field("text", title + " " + text, searched));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
      writer.commit();
    }
  }

  private static void ask(
      IndexSearcher searcher,
      Analyzer analyzer,
      List<String> questions,
      double seconds,
      double buildSeconds,
      long bytes)
      throws Exception {
    StringBuilder hits = new StringBuilder();
    for (int i = 0; i < questions.size(); i++) {
      List<String> ids = search(searcher, analyzer, questions.get(i));
      if (i < COMPARED) hits.append(i == 0 ? "" : ",").append(quoted(ids));
    }
    long start = processorNanos();
    long end = System.nanoTime() + (long) (seconds * 1e9);
    int asked = 0;
    while (System.nanoTime() < end) {
      search(searcher, analyzer, questions.get(asked % questions.size()));
      asked++;
    }
    double elapsed = (processorNanos() - start) / 1e9;
    System.out.printf(
        java.util.Locale.ROOT,
        "{\"buildSeconds\":%f,\"queriesPerSecond\":%f,\"bytesOnDisk\":%d,\"peakMb\":%f,"
            + "\"residentMb\":%f,\"version\":\"lucene %s, Java %s\",\"hits\":[%s]}%n",
        buildSeconds,
        asked / elapsed,
        bytes,
        memoryMb("VmHWM"),
        memoryMb("VmRSS"),
        Version.LATEST,
        System.getProperty("java.version"),
        hits);
  }

  private static long processorNanos() {
    var system = java.lang.management.ManagementFactory.getOperatingSystemMXBean();
    return ((com.sun.management.OperatingSystemMXBean) system).getProcessCpuTime();
  }

  private static List<String> search(IndexSearcher searcher, Analyzer analyzer, String question)
      throws Exception {
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    try (var stream = analyzer.tokenStream("text", question)) {
      CharTermAttribute term = stream.addAttribute(CharTermAttribute.class);
      stream.reset();
      while (stream.incrementToken()) {
        query.add(new TermQuery(new Term("text", term.toString())), BooleanClause.Occur.SHOULD);
      }
      stream.end();
    }
    List<String> ids = new ArrayList<>(K);
    Set<String> fields = new HashSet<>(List.of("id"));
    var stored = searcher.storedFields();
    for (ScoreDoc hit : searcher.search(query.build(), K).scoreDocs) {
      ids.add(stored.document(hit.doc, fields).get("id"));
    }
    return ids;
  }

  private static String quoted(List<String> ids) {
    return ids.isEmpty() ? "[]" : "[\"" + String.join("\",\"", ids) + "\"]";
  }

  private static double memoryMb(String field) throws Exception {
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) return -1;
    for (String line : Files.readAllLines(status)) {
      if (line.startsWith(field)) return Long.parseLong(line.replaceAll("\\D", "")) * 1024 / 1e6;
    }
    return -1;
  }

  private static long sizeOf(Path folder) throws Exception {
    try (Stream<Path> files = Files.list(folder)) {
      return files.mapToLong(file -> file.toFile().length()).sum();
    }
  }

  private static void remove(Path folder) throws Exception {
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    }
  }

  /** Reads what this benchmark's files hold: a string, or an object of strings, a line. */
  private static final class Json {
    private final String line;
    private int at = 0;

    Json(String line) {
      this.line = line;
    }

    /** The next key of the object; null at its end. */
    String key() {
      at = line.indexOf('"', at);
      if (at < 0) return null;
      String key = string();
      at = line.indexOf(':', at) + 1;
      return key;
    }

    String string() {
      StringBuilder out = new StringBuilder();
      at = line.indexOf('"', at) + 1;
      for (char sign; (sign = line.charAt(at++)) != '"'; ) {
        if (sign == '\\') sign = escaped(line.charAt(at++));
        out.append(sign);
      }
      if (line.indexOf('"', at) < 0) at = line.length();
      return out.toString();
    }

    private char escaped(char sign) {
      switch (sign) {
        case 'n':
          return '\n';
        case 't':
          return '\t';
        case 'r':
          return '\r';
        case 'b':
          return '\b';
        case 'f':
          return '\f';
        case 'u':
          at += 4;
          return (char) Integer.parseInt(line.substring(at - 4, at), 16);
        default:
          return sign;
      }
    }
  }
}
