#include "tree/ablation.hpp"

#include <algorithm>

namespace frugal {
namespace {

struct Walk {
  const EnsembleView& model;
  std::span<const double> weight;
  const std::vector<std::uint8_t>& is_hidden;  // by feature

  // Value of the leaf that row r of the block reaches, or the mean of those it reaches both ways, from one node on.
  double value(size_t root, size_t node, const Block& block, size_t r) const {
    while (model.feature[node] >= 0) {
      const size_t left = root + static_cast<size_t>(model.left[node]);
      if (is_hidden[static_cast<size_t>(model.feature[node])]) {
        const double share = weight[left] / (weight[left] + weight[left + 1]);
        return share * value(root, left, block, r) + (1.0 - share) * value(root, left + 1, block, r);
      }
      node = left + !model.goes_left(node, block.at(node, r));
    }
    return model.value[node];
  }
};

// For each feature the trees that split on it.
std::vector<std::vector<size_t>> trees_of_features(const EnsembleView& model, size_t features, size_t trees) {
  std::vector<std::vector<size_t>> found(features);
  for (size_t t = 0; t < trees; ++t)
    for (auto i = model.tree_begin[t]; i < model.tree_begin[t + 1]; ++i) {
      if (model.feature[static_cast<size_t>(i)] < 0) continue;
      auto& list = found[static_cast<size_t>(model.feature[static_cast<size_t>(i)])];
      if (list.empty() || list.back() != t) list.push_back(t);
    }
  return found;
}

std::vector<size_t> merged(const std::vector<std::vector<size_t>>& trees_of, std::span<const std::int32_t> features) {
  std::vector<size_t> trees;
  for (auto f : features)
    trees.insert(trees.end(), trees_of[static_cast<size_t>(f)].begin(), trees_of[static_cast<size_t>(f)].end());
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
  for (size_t k = 0; k < model.outputs(); ++k)
    std::fill_n(raw.begin() + static_cast<std::ptrdiff_t>(k * n), n, model.start[k]);
  add_trees(model, X, 0, trees, raw.data(), context);
  std::vector<double> losses{loss.mean(target, raw.data(), context)};
  const auto trees_of = trees_of_features(model, X.columns(), trees);
  const UsedColumns used(model, 0, trees);
  const std::vector<std::uint8_t> nothing_hidden(X.columns());
  for (size_t u = 0; u < hidden.size(); ++u) {
    const auto touched = merged(trees_of, hidden.of(u));
    std::vector<std::uint8_t> is_hidden(X.columns());
    for (auto f : hidden.of(u)) is_hidden[static_cast<size_t>(f)] = 1;
    const Walk blind{model, weight, is_hidden}, seeing{model, weight, nothing_hidden};
    std::vector<double> without = raw;
    context.over_blocks(
        n, Block::kRows, 30.0 * static_cast<double>(touched.size()), [&](size_t begin, size_t end, size_t) {
          Block block(used);
          block.read(X, begin, end);
          for (size_t t : touched) {
            const auto root = static_cast<size_t>(model.tree_begin[t]);
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
