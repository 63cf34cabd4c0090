// Engines written in Python.
#include "bind/codec.hpp"
#include "bind/engine.hpp"
#include "support/mask.hpp"

namespace frugal {
namespace {

class PythonEngine final : public Engine {
 public:
  explicit PythonEngine(nb::object object) : object_(std::move(object)) {
    const nb::object table = object_.attr("table")();
    facts_.rows = nb::cast<std::int64_t>(table["rows"]);
    facts_.weight = nb::cast<std::int64_t>(table["weight"]);
    facts_.weight_shift = nb::cast<int>(table["weight_shift"]);
    facts_.weighted = nb::cast<bool>(table["weighted"]);
    facts_.targets = nb::cast<size_t>(table["targets"]);
    for (const nb::handle column : table["columns"]) facts_.columns.push_back(column_from(column));
    const nb::object thresholds = table["thresholds"];
    if (nb::len(thresholds) != facts_.columns.size())
      throw std::invalid_argument("The engine must give thresholds for every column.");
    for (const nb::handle cuts : thresholds)
      thresholds_.add(list_from<double>(cuts), facts_.columns[thresholds_.columns()].categorical);
    thresholds_.scores = list_from<std::int16_t>(table["scores"]);
    facts_.thresholds = &thresholds_;
  }
  ~PythonEngine() override {
    nb::gil_scoped_acquire lock;
    object_.reset();
  }

  const TableFacts& table() const override { return facts_; }
  size_t outputs() const override { return ask<size_t>("outputs"); }
  double step_limit() const override { return ask<double>("step_limit"); }
  double leaf_quantile() const override { return ask<double>("leaf_quantile"); }
  OutputScale scale(size_t output) const override {
    nb::gil_scoped_acquire lock;
    const nb::object found = object_.attr("scale")(output);
    return {nb::cast<double>(found[0]), nb::cast<double>(found[1])};
  }
  void constrain(std::span<const std::int8_t> trends) override {
    for (size_t c = 0; c < trends.size(); ++c) facts_.columns[c].trend = trends[c];
    tell("constrain", trends);
  }
  void confine(std::span<const ValueRange> ranges) override {
    nb::gil_scoped_acquire lock;
    nb::list out;
    for (const ValueRange& range : ranges) out.append(nb::make_tuple(range.low, range.high));
    object_.attr("confine")(out);
  }

  std::vector<double> best_constant() override { return ask<std::vector<double>>("best_constant"); }
  void predict(std::span<const double> constants) override { tell("predict", constants); }
  void predict_as_before() override {
    nb::gil_scoped_acquire lock;
    object_.attr("predict_as_before")();
  }
  Losses losses() override {
    nb::gil_scoped_acquire lock;
    const nb::object found = object_.attr("losses")();
    return {nb::cast<double>(found[0]), nb::cast<double>(found[1])};
  }
  void derive() override {
    nb::gil_scoped_acquire lock;
    object_.attr("derive")();
  }
  GradientFacts gradients(size_t output) const override { return facts_from("gradients", output); }
  double impurity(size_t output) override { return ask<double>("impurity", output); }
  Moved moved(std::span<const double> full, std::span<const double> step) override {
    nb::gil_scoped_acquire lock;
    const nb::object found = object_.attr("moved")(to_list(full), to_list(step));
    Moved out{nb::cast<bool>(found[0]), nb::cast<double>(found[1]), {}};
    for (const nb::handle o : found[2])
      out.outputs.push_back({nb::cast<bool>(o[0]), nb::cast<double>(o[1]), nb::cast<double>(o[2])});
    return out;
  }

  void begin_trees(std::span<const std::int8_t> signs, const RowDraw& draw) override {
    nb::gil_scoped_acquire lock;
    object_.attr("begin_trees")(to_list(signs), draw.key, draw.share);
  }
  NodeSums root(size_t tree) const override {
    nb::gil_scoped_acquire lock;
    return sums_from(object_.attr("root")(tree));
  }
  GradientFacts tree_gradients(size_t tree) const override { return facts_from("tree_gradients", tree); }
  std::vector<std::int64_t> probe(std::uint64_t number) override {
    return ask<std::vector<std::int64_t>>("probe", number);
  }
  double gradient_move(size_t output) override { return ask<double>("gradient_move", output); }
  std::vector<NodeSums> begin_level(std::span<const std::uint8_t> open, bool squares) override {
    nb::gil_scoped_acquire lock;
    return all_sums(object_.attr("begin_level")(numbers_of(open), squares), open.size());
  }
  std::vector<NodeSums> split(std::span<const SplitRule> splits, std::span<const size_t> leaves) override {
    nb::gil_scoped_acquire lock;
    nb::list rules;
    for (const SplitRule& rule : splits) rules.append(to_python(rule, facts_.columns[rule.column].bins));
    return all_sums(object_.attr("split")(rules, to_list(leaves)), 2 * splits.size());
  }

  void keep_looks() override {
    nb::gil_scoped_acquire lock;
    object_.attr("keep_looks")();
  }
  std::vector<std::int64_t> looked(std::span<const size_t> columns) override {
    nb::gil_scoped_acquire lock;
    return checked(list_from<std::int64_t>(object_.attr("looked")(to_list(columns))), columns.size());
  }
  std::vector<std::int64_t> unseen(std::span<const size_t> nodes, std::span<const size_t> columns) override {
    nb::gil_scoped_acquire lock;
    const nb::object found = object_.attr("unseen")(to_list(nodes), to_list(columns));
    return checked(list_from<std::int64_t>(found), nodes.size() * (1 + columns.size()));
  }
  void look(size_t node, size_t column) override {
    nb::gil_scoped_acquire lock;
    object_.attr("look")(node, column);
  }
  void route(std::span<const SplitRule> splits, std::span<const size_t> leaves) override {
    nb::gil_scoped_acquire lock;
    nb::list rules;
    for (const SplitRule& rule : splits) rules.append(to_python(rule, facts_.columns[rule.column].bins));
    object_.attr("route")(rules, to_list(leaves));
  }

  std::span<const size_t> columns(Pool pool) const override {
    nb::gil_scoped_acquire lock;
    auto& kept = columns_[number_of(pool)];
    auto now = list_from<size_t>(object_.attr("columns")(name_of(pool)));
    for (size_t c : now)
      if (c >= facts_.columns.size()) throw std::invalid_argument("The engine has a column that does not exist.");
    if (now != kept) kept = std::move(now);  // what was returned stays valid while the pool is the same
    return kept;
  }
  void own(std::span<const size_t> columns) override { tell("own", columns); }
  void offer(std::span<const size_t> columns) override { tell("offer", columns); }
  void expect(std::span<const size_t>) override {}

  void search(Pool pool, std::span<const std::uint8_t> wanted, bool deeper, std::span<ColumnSplit> splits) override {
    nb::gil_scoped_acquire lock;
    const nb::object found = object_.attr("search")(name_of(pool), numbers_of(wanted), deeper);
    const size_t columns = wanted.empty() ? 0 : splits.size() / wanted.size();
    size_t next = 0;
    for (size_t n = 0; n < wanted.size(); ++n)
      if (wanted[n]) read(found[next++], splits.subspan(n * columns, columns));
  }
  void search(Pool pool, std::span<Piece> pieces) override {
    const auto columns = this->columns(pool);
    nb::gil_scoped_acquire lock;
    for (Piece& piece : pieces)
      for (size_t lane = 0; lane < piece.splits.size(); ++lane)
        if (has_bit(piece.wanted, lane))
          piece.splits[lane] =
              split_from(object_.attr("best_split")(piece.node, columns[piece.byte * kByteBits + lane]));
  }
  void search_sparse(std::span<const size_t> columns, std::span<const std::uint8_t> wanted,
                     std::span<ColumnSplit> splits) override {
    nb::gil_scoped_acquire lock;
    for (size_t i = 0; i < columns.size(); ++i)
      for (size_t n = 0; n < wanted.size(); ++n)
        if (wanted[n]) splits[i * wanted.size() + n] = split_from(object_.attr("best_split")(n, columns[i]));
  }
  std::vector<std::int64_t> cells(size_t node, size_t column) override {
    return ask<std::vector<std::int64_t>>("cells", node, column);
  }

  bool can_rule_out() const override { return false; }
  void expect_screening(bool) override {}
  void rule_out(std::span<ScreeningQuery>) override {}
  std::vector<ListedSums> listed(size_t output, std::span<const size_t> columns) override {
    nb::gil_scoped_acquire lock;
    std::vector<ListedSums> out;
    for (const nb::handle o : object_.attr("listed")(output, to_list(columns)))
      out.push_back({nb::cast<double>(o[0]), nb::cast<double>(o[1])});
    return out;
  }

  std::vector<LeafSums> leaf_sums(size_t output) override {
    nb::gil_scoped_acquire lock;
    std::vector<LeafSums> out;
    for (const nb::handle o : object_.attr("leaf_sums")(output))
      out.push_back({nb::cast<double>(o[0]), nb::cast<double>(o[1]), nb::cast<double>(o[2])});
    return out;
  }
  std::vector<double> leaf_quantiles(size_t output, double level) override {
    return ask<std::vector<double>>("leaf_quantiles", output, level);
  }
  void add_tree(size_t output, const Tree& tree, std::span<const double> leaf_values) override {
    nb::gil_scoped_acquire lock;
    nb::dict arrays;
    arrays["feature"] = nb::cast(tree.feature);
    arrays["left"] = nb::cast(tree.left);
    arrays["missing_left"] = nb::cast(tree.missing_left);
    arrays["bin"] = nb::cast(tree.bin);
    arrays["value"] = nb::cast(tree.value);
    arrays["level_set"] = nb::cast(tree.level_set);
    arrays["sets"] = nb::cast(tree.sets);
    object_.attr("add_tree")(output, arrays, to_list(leaf_values));
  }

  std::vector<ScoreSums> score_sums(std::span<const size_t> columns) override {
    nb::gil_scoped_acquire lock;
    std::vector<ScoreSums> out;
    for (const nb::handle o : object_.attr("score_sums")(to_list(columns)))
      out.push_back({nb::cast<std::int64_t>(o[0]), wide_from(nb::borrow(o[1]))});
    return checked(std::move(out), columns.size());
  }
  std::vector<Int128> score_gradients(size_t output, std::span<const size_t> columns) override {
    nb::gil_scoped_acquire lock;
    std::vector<Int128> out;
    for (const nb::handle o : object_.attr("score_gradients")(output, to_list(columns)))
      out.push_back(wide_from(nb::borrow(o)));
    return checked(std::move(out), columns.size());
  }
  LineSums line_sums(size_t output, size_t column) override {
    const auto found = checked(ask<std::vector<double>>("line_sums", output, column), 5);
    return {found[0], found[1], found[2], found[3], found[4]};
  }
  double line_quantile(size_t output, size_t column, double intercept, double level) override {
    return ask<double>("line_quantile", output, column, intercept, level);
  }
  std::vector<double> curvatures(size_t output, std::span<const size_t> columns) override {
    nb::gil_scoped_acquire lock;
    const size_t size = columns.size() + 1;
    return checked(list_from<double>(object_.attr("curvatures")(output, to_list(columns))), size * (size + 1) / 2);
  }
  void add_line(size_t output, size_t column, double value, double slope) override {
    nb::gil_scoped_acquire lock;
    object_.attr("add_line")(output, column, value, slope);
  }

 private:
  template <class T, class... Given>
  T ask(const char* method, Given... given) const {
    nb::gil_scoped_acquire lock;
    return nb::cast<T>(object_.attr(method)(given...));
  }
  template <class T>
  void tell(const char* method, std::span<const T> values) const {
    nb::gil_scoped_acquire lock;
    object_.attr(method)(to_list(values));
  }
  GradientFacts facts_from(const char* method, size_t number) const {
    nb::gil_scoped_acquire lock;
    const nb::object g = object_.attr(method)(number);
    return {nb::cast<int>(g[0]), nb::cast<std::int64_t>(g[1]), nb::cast<std::int32_t>(g[2]),
            nb::cast<std::int32_t>(g[3])};
  }
  template <class T>
  static std::vector<T> checked(std::vector<T> found, size_t size) {
    if (found.size() != size) throw std::invalid_argument("The engine must give one answer for every column.");
    return found;
  }
  static std::vector<NodeSums> all_sums(const nb::object& found, size_t nodes) {
    std::vector<NodeSums> out;
    for (const nb::handle s : found) out.push_back(sums_from(s));
    if (out.size() != nodes) throw std::invalid_argument("The engine must give sums for every node.");
    return out;
  }
  static void read(const nb::handle& found, std::span<ColumnSplit> splits) {
    if (nb::len(found) != splits.size())
      throw std::invalid_argument("The engine must give a split for every column of the pool.");
    size_t i = 0;
    for (const nb::handle s : found) splits[i++] = split_from(s);
  }

  nb::object object_;
  TableFacts facts_;
  Thresholds thresholds_;
  mutable std::array<std::vector<size_t>, kPools> columns_;  // by pool; `columns` returns views of them
};

}  // namespace

std::unique_ptr<Engine> python_engine(nb::object object) {
  return std::make_unique<PythonEngine>(std::move(object));
}

}  // namespace frugal
