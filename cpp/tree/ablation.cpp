#include "tree/ablation.hpp"

#include <algorithm>
#include <utility>

#include "support/limits.hpp"

namespace frugal {
namespace {

struct Walk {
  const EnsembleView& model;
  std::span<const double> weight;
  const std::vector<std::uint8_t>& is_hidden;  // by feature

  // The value of the leaf that row r of the block reaches from `node`, or the weighted mean over several leaves.
  double value(size_t root, size_t node, const Block& block, size_t r) const {
    while (!model.is_leaf(node)) {
      const size_t left = model.left_child(root, node);
      if (is_hidden[model.column(node)]) {
        const double share = weight[left] / (weight[left] + weight[left + 1]);
        return share * value(root, left, block, r) + (1.0 - share) * value(root, left + 1, block, r);
      }
      node = left + !model.goes_left(node, block.at(node, r));
    }
    if (!model.is_line(node) || is_hidden[model.line_column(node)]) return model.value[node];  // the mean score is 0
    return model.value[node] + model.slope[node] * model.score(model.scale(node), block.at(node, r));
  }
};

// Raw predictions with each of some lists of features hidden. A row's own path through a tree is walked once, for all
// lists: a list changes something only where one of its features is on that path, from there on.
class HiddenLists {
 public:
  HiddenLists(const EnsembleView& model, std::span<const double> weight, const Lists& hidden, size_t first, size_t last,
              size_t columns, std::span<const double> raw)
      : model_(model), lists_of_(columns) {
    for (size_t u = first; u < last; ++u) {
      is_hidden_.emplace_back(columns);
      for (auto f : hidden.of(u))
        if (!std::exchange(is_hidden_.back()[f], 1)) lists_of_[f].push_back(u - first);
      without_.emplace_back(raw.begin(), raw.end());
    }
    for (const auto& is_hidden : is_hidden_) blind_.push_back({model, weight, is_hidden});
  }

  // Hides the lists from trees [0, trees) for the rows of a block, which begin at `begin`.
  void hide(const Block& block, size_t begin, size_t end, size_t rows, size_t trees) {
    std::vector<size_t> path, done(without_.size());
    size_t step = 0;  // lists that are done in this step have its number
    for (size_t t = 0; t < trees; ++t)
      for (size_t r = begin; r < end; ++r)
        hide(t, block, r - begin, (t % model_.outputs()) * rows + r, path, done, ++step);
  }

  const std::vector<double>& without(size_t list) const { return without_[list]; }

 private:
  void hide(size_t tree, const Block& block, size_t r, size_t place, std::vector<size_t>& path,
            std::vector<size_t>& done, size_t step) {
    const size_t root = model_.root(tree);
    size_t node = root;
    for (path.clear(); !model_.is_leaf(node); node = model_.child(root, node, block.at(node, r))) path.push_back(node);
    const double seen = seeing_.value(root, node, block, r);
    for (size_t on_path : path)
      for (size_t u : lists_of_[model_.column(on_path)])
        if (std::exchange(done[u], step) != step) without_[u][place] += blind_[u].value(root, on_path, block, r) - seen;
    if (!model_.is_line(node)) return;
    for (size_t u : lists_of_[model_.line_column(node)])
      if (std::exchange(done[u], step) != step) without_[u][place] += model_.value[node] - seen;
  }

  const EnsembleView& model_;
  std::vector<std::vector<size_t>> lists_of_;         // of each feature
  std::vector<std::vector<std::uint8_t>> is_hidden_;  // by list and feature
  std::vector<std::vector<double>> without_;          // raw predictions of each list
  std::vector<Walk> blind_;                           // of each list
  std::vector<std::uint8_t> nothing_ = std::vector<std::uint8_t>(lists_of_.size());
  Walk seeing_{model_, {}, nothing_};
};

}  // namespace

std::vector<double> losses_without(const EnsembleView& model, std::span<const double> weight, const Source& X,
                                   const Target& target, Loss& loss, const Lists& hidden, size_t trees,
                                   Context& context) {
  const size_t n = X.rows();
  std::vector<double> raw(model.outputs() * n);
  for (size_t k = 0; k < model.outputs(); ++k) std::fill_n(raw.data() + k * n, n, model.start[k]);
  add_trees(model, X, 0, trees, raw.data(), context);
  std::vector<double> losses{loss.mean(target, raw.data(), context)};
  const UsedColumns used(model, 0, trees);
  const size_t at_once = std::max<size_t>(1, kHiddenBytes / (raw.size() * sizeof(double) + X.columns() + 1));
  for (size_t first = 0; first < hidden.size(); first += at_once) {
    const size_t last = std::min(first + at_once, hidden.size());
    HiddenLists lists(model, weight, hidden, first, last, X.columns(), raw);
    context.over_blocks(n, Block::kRows, 60.0 * real(trees), [&](size_t begin, size_t end, size_t) {
      Block block(used);
      block.read(X, begin, end);
      lists.hide(block, begin, end, n, trees);
    });
    for (size_t u = first; u < last; ++u) losses.push_back(loss.mean(target, lists.without(u - first).data(), context));
  }
  return losses;
}

}  // namespace frugal
