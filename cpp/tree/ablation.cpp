#include "tree/ablation.hpp"

#include <algorithm>

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

// The trees that split on each feature, or have a line on it.
std::vector<std::vector<size_t>> trees_of_features(const EnsembleView& model, size_t features, size_t trees) {
  std::vector<std::vector<size_t>> found(features);
  for (size_t t = 0; t < trees; ++t)
    for (size_t i = model.root(t); i < model.root(t + 1); ++i) {
      if (model.is_leaf(i) && !model.is_line(i)) continue;
      auto& list = found[model.is_line(i) ? model.line_column(i) : model.column(i)];
      if (list.empty() || list.back() != t) list.push_back(t);
    }
  return found;
}

std::vector<size_t> merged(const std::vector<std::vector<size_t>>& trees_of, std::span<const std::uint32_t> features) {
  std::vector<size_t> trees;
  for (auto f : features) trees.insert(trees.end(), trees_of[f].begin(), trees_of[f].end());
  std::sort(trees.begin(), trees.end());
  trees.erase(std::unique(trees.begin(), trees.end()), trees.end());
  return trees;
}

}  // namespace

std::vector<double> losses_without(const EnsembleView& model, std::span<const double> weight, const Source& X,
                                   const Target& target, Loss& loss, const Lists& hidden, size_t trees,
                                   Context& context) {
  const size_t n = X.rows();
  std::vector<double> raw(model.outputs() * n);
  for (size_t k = 0; k < model.outputs(); ++k) std::fill_n(raw.data() + k * n, n, model.start[k]);
  add_trees(model, X, 0, trees, raw.data(), context);
  std::vector<double> losses{loss.mean(target, raw.data(), context)};
  const auto trees_of = trees_of_features(model, X.columns(), trees);
  const UsedColumns used(model, 0, trees);
  const std::vector<std::uint8_t> nothing_hidden(X.columns());
  for (size_t u = 0; u < hidden.size(); ++u) {
    const auto touched = merged(trees_of, hidden.of(u));
    std::vector<std::uint8_t> is_hidden(X.columns());
    for (auto f : hidden.of(u)) is_hidden[f] = 1;
    const Walk blind{model, weight, is_hidden}, seeing{model, weight, nothing_hidden};
    std::vector<double> without = raw;
    context.over_blocks(n, Block::kRows, 30.0 * real(touched.size()), [&](size_t begin, size_t end, size_t) {
      Block block(used);
      block.read(X, begin, end);
      for (size_t t : touched) {
        const size_t root = model.root(t);
        double* out = without.data() + (t % model.outputs()) * n;
        for (size_t r = begin; r < end; ++r)
          out[r] += blind.value(root, root, block, r - begin) - seeing.value(root, root, block, r - begin);
      }
    });
    losses.push_back(loss.mean(target, without.data(), context));
  }
  return losses;
}

}  // namespace frugal
