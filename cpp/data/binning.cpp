#include "data/binning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "data/cut_tree.hpp"
#include "data/levels.hpp"
#include "support/kernels.hpp"
#include "support/limits.hpp"

namespace frugal {

namespace {

// A column is made sparse if at most this share of the rows (as one row in N) is not in its usual bin. The share is
// smaller for columns of two bins if most columns have two.
class SparseShares {
 public:
  explicit SparseShares(const BinnedMatrix& X) : X_(X) {
    size_t two = 0;
    for (size_t c = 0; c < X.columns(); ++c) two += X.value_bins(c) == 2;
    if (2 * two > X.columns()) of_two_ *= kFoldedShare;
  }
  size_t of(size_t column) const { return X_.value_bins(column) == 2 ? of_two_ : kSparseShare; }

 private:
  const BinnedMatrix& X_;
  size_t of_two_ = kSparseShare;
};

// A hint for large memory that was not touched yet: one page of 2 MB is mapped in the time of a few small ones.
void want_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kHuge = std::uintptr_t{1} << 21;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kHuge - 1) / kHuge * kHuge;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size) / kHuge * kHuge;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

// Asks for the lines of rows [begin, end) if they hold columns [first, last) side by side: processors fetch ahead what
// follows in memory, but not the next row of a wide table.
void fetch_ahead(const Table& table, size_t first, size_t last, size_t begin, size_t end) {
  constexpr size_t kLine = 64;
  const size_t size = as_elements(table.column(first).data, table.column(first).element,
                                  [](const auto* values) { return sizeof *values; });
  const auto* from = static_cast<const char*>(table.column(first).data);
  const auto bytes = narrow<std::ptrdiff_t>((last - first) * size);
  const auto stride = table.column(first).step * narrow<std::ptrdiff_t>(size);
  if (stride < bytes ||
      static_cast<const char*>(table.column(last - 1).data) - from != bytes - narrow<std::ptrdiff_t>(size))
    return;
  for (size_t r = begin; r < end; ++r) {
    const char* row = from + narrow<std::ptrdiff_t>(r) * stride;
    for (std::ptrdiff_t at = 0; at < bytes; at += kLine) __builtin_prefetch(row + at, 0, 2);
  }
}

}  // namespace

// Rows [begin, end) of a batch, and where they go.
struct BinnedMatrix::RowsToFill {
  RowsToFill(size_t first, size_t last, std::span<const std::int64_t> places)
      : begin(first), end(last), to(places.data() + first), in_order(to[0] >= 0) {
    for (size_t i = 1; i < size(); ++i) in_order &= to[i] == to[0] + narrow<std::int64_t>(i);
  }
  size_t size() const { return end - begin; }
  // Whether a row that is not left out has this bin.
  bool any_of(const std::uint8_t* bins, std::uint8_t bin) const {
    bool any = false;
    for (size_t i = 0; i < size(); ++i) any |= bins[i] == bin && to[i] >= 0;
    return any;
  }

  size_t begin, end;
  const std::int64_t* to;
  bool in_order;  // they follow one another
};

void BinnedMatrix::lay_out(std::vector<std::uint8_t> is_sparse) {
  is_sparse_ = std::move(is_sparse);
  place_.clear();
  dense_.clear();
  sparse_.clear();
  for (size_t c = 0; c < thresholds_.columns(); ++c) {
    auto& kind = is_sparse_[c] ? sparse_ : dense_;
    place_.push_back(kind.size());
    kind.push_back(c);
  }
}

void BinnedMatrix::allocate(Bytes memory) {
  borrowed_ = memory != nullptr;
  bins_ = std::move(memory);
  if (borrowed_) return;
  const size_t size = std::max<size_t>(1, bytes_needed(rows_, dense()));
  void* zeros = std::calloc(size, 1);
  if (zeros == nullptr) throw std::bad_alloc();
  want_huge_pages(zeros, size);
  bins_ = Bytes(static_cast<std::uint8_t*>(zeros), [](std::uint8_t* p) { std::free(p); });
}

// Gives back the memory behind the last group; `had` bytes were allocated. If the system can take back single pages,
// nothing is copied: a copy of a large table would be the peak of a fit's memory.
void BinnedMatrix::shrink(size_t had) {
  const size_t needed = std::max<size_t>(1, bytes_needed(rows_, dense()));
  if (borrowed_ || needed >= had) return;
#ifdef __linux__
  constexpr size_t kWorthIt = size_t{1} << 20;
  if (had - needed >= kWorthIt) {
    const auto page = narrow<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto from = (reinterpret_cast<std::uintptr_t>(bins_.get()) + needed + page - 1) / page * page;
    const auto to = (reinterpret_cast<std::uintptr_t>(bins_.get()) + had) / page * page;
    if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
    return;
  }
#endif
  auto* moved = static_cast<std::uint8_t*>(std::malloc(needed));
  if (moved == nullptr) throw std::bad_alloc();
  Bytes smaller(moved, [](std::uint8_t* p) { std::free(p); });
  std::memcpy(moved, bins_.get(), needed);
  bins_ = std::move(smaller);
}

BinnedMatrix::BinnedMatrix(size_t rows, Thresholds thresholds, Bytes memory)
    : rows_(rows), thresholds_(std::move(thresholds)), has_missing_(thresholds_.columns()) {
  lay_out(std::vector<std::uint8_t>(thresholds_.columns()));
  allocate(std::move(memory));
}

void BinnedMatrix::set_scores(std::vector<std::int16_t> scores) {
  if (scores.size() != thresholds_.cuts.size() + columns())
    throw std::invalid_argument("There must be a score for every bin.");
  thresholds_.scores = std::move(scores);
}

// A task takes some rows of some groups, so that the trees of its columns are made once, and goes through them in
// blocks of rows that stay in the first-level cache while columns side by side take their values from the same lines.
void BinnedMatrix::fill(const Table& batch, std::span<const std::int64_t> places, Context& context) {
  constexpr size_t kRows = 16 * kBinRows, kColumns = 8 * kLanes;
  const size_t n = batch.rows(), d = columns(), across = (d + kColumns - 1) / kColumns;
  const size_t blocks = (n + kRows - 1) / kRows;
  std::vector<std::uint8_t> missing_in_block(blocks * d);
  context.parallel_for(blocks * across, 4.0 * real(n * d), [&](size_t task, size_t) {
    const size_t block = task / across, begin = block * kRows, end = std::min(n, begin + kRows);
    const size_t first = task % across * kColumns, last = std::min(d, first + kColumns);
    std::vector<CutTree> trees;
    trees.reserve(last - first);
    for (size_t c = first; c < last; ++c) trees.push_back(cut_tree(thresholds_.of(c), batch.column(c).element));
    for (size_t at = begin; at < end; at += kBinRows) {
      const RowsToFill rows(at, std::min(end, at + kBinRows), places);
      fetch_ahead(batch, first, last, rows.end, std::min(n, rows.end + kBinRows));
      for (size_t c = first; c < last; c += kLanes)
        fill_group(batch, c, std::min(last, c + kLanes), rows, trees.data() + (c - first),
                   missing_in_block.data() + block * d + c);
    }
  });
  // Only the binned rows count, not those the thresholds were found on: a continued fit may bring the first missing
  // value.
  for (size_t i = 0; i < missing_in_block.size(); ++i) has_missing_[i % d] |= missing_in_block[i];
}

void BinnedMatrix::fill_group(const Table& batch, size_t first, size_t last, const RowsToFill& rows,
                              const CutTree* trees, std::uint8_t* missing) {
  alignas(64) std::uint8_t lanes[kLanes * kBinRows], words[kLanes * kBinRows];
  for (size_t lane = 0; lane < kLanes; ++lane) {
    std::uint8_t* bins = lanes + lane * kBinRows;
    if (first + lane >= last) {
      std::fill_n(bins, kBinRows, std::uint8_t{0});
      continue;
    }
    const bool any = bins_of(batch.column(first + lane), rows.begin, rows.end, trees[lane], bins);
    if (any) missing[lane] |= rows.any_of(bins, narrow<std::uint8_t>(trees[lane].count + 1));
  }
  std::uint8_t* out = dense_at(first);
  if (rows.in_order) {
    kernels().interleave(rows.size(), lanes, kBinRows, out + index(rows.to[0]) * kLanes);
    return;
  }
  kernels().interleave(rows.size(), lanes, kBinRows, words);
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows.to[i] >= 0) std::memcpy(out + index(rows.to[i]) * kLanes, words + i * kLanes, kLanes);
}

// Whether a group has only columns of at most two bins, and enough of them to gain anything.
bool BinnedMatrix::foldable(size_t group) const {
  const size_t first = group * kLanes, last = std::min(dense(), first + kLanes);
  for (size_t p = first; p < last; ++p) {
    const size_t c = dense_[p];
    if (value_bins(c) > 2 || has_missing_[c] || categorical(c)) return false;
  }
  return last - first >= 3;
}

// Packs columns of two bins to one bit per row.
void BinnedMatrix::fold(Context& context) {
  folded_.clear();
  folded_.resize(groups());
  context.parallel_for(groups(), real(rows_ * dense()), [&](size_t g, size_t) {
    if (!foldable(g)) return;
    const size_t width = std::min(dense() - g * kLanes, kLanes);
    folded_[g] = Bytes(new std::uint8_t[rows_]);
    const std::uint8_t* from = bins_.get() + g * kLanes * rows_;
    for (size_t r = 0; r < rows_; ++r) {
      unsigned bits = 0;
      for (size_t lane = 0; lane < width; ++lane) bits |= unsigned{from[r * kLanes + lane]} << lane;
      folded_[g][r] = narrow<std::uint8_t>(bits);
    }
  });
}

// Rows are counted over all parts of the table.
BinnedMatrix::UsualBins BinnedMatrix::usual_in_parts(Context& context) const {
  Together& together = context.together();
  const std::int64_t rows = sum_of(together, narrow<std::int64_t>(rows_), "rows in bins");
  const SparseShares shares(*this);
  UsualBins usual(columns());
  constexpr size_t kAtOnce = 256;
  for (size_t first = 0; first < columns(); first += kAtOnce) {
    const size_t count = std::min(kAtOnce, columns() - first);
    std::vector<std::int64_t> counts(count * kMostBins);
    context.parallel_for(count, real(rows_ * count), [&](size_t i, size_t) {
      const std::uint8_t* bins = dense_at(first + i);
      for (size_t r = 0; r < rows_; ++r) ++counts[i * kMostBins + bins[r * kLanes]];
    });
    const std::vector<std::int64_t> here = counts;
    together.sum(counts, "rows by bin");
    for (size_t i = 0; i < count; ++i) {
      const size_t c = first + i;
      const auto own = std::span(counts).subspan(i * kMostBins, kMostBins);
      const size_t likely = index(std::max_element(own.begin(), own.end()) - own.begin());
      const bool sparse = rows - own[likely] <= rows / narrow<std::int64_t>(shares.of(c));
      if (!sparse || categorical(c) || likely == value_bins(c)) continue;
      usual.bin[c] = narrow<Bin>(likely);
      usual.others[c] = rows_ - index(here[i * kMostBins + likely]);
    }
  }
  return usual;
}

// The same for a table in one piece. The first rows show that most columns need no full count.
BinnedMatrix::UsualBins BinnedMatrix::usual_alone(Context& context) const {
  const SparseShares shares(*this);
  UsualBins usual(columns());
  context.parallel_for(columns(), real(rows_ * columns()), [&](size_t c, size_t) {
    if (categorical(c)) return;
    std::array<Row, kMostBins> counts{};
    const std::uint8_t* bins = dense_at(c);
    const size_t some = std::min<size_t>(rows_, 1024);
    for (size_t r = 0; r < some; ++r) ++counts[bins[r * kLanes]];
    const size_t likely = index(std::max_element(counts.begin(), counts.end()) - counts.begin());
    if (counts[likely] < some / 2 || likely == value_bins(c)) return;
    for (size_t r = some; r < rows_; ++r) counts[likely] += bins[r * kLanes] == likely;
    if (rows_ - counts[likely] > rows_ / shares.of(c)) return;
    usual.bin[c] = narrow<Bin>(likely);
    usual.others[c] = rows_ - counts[likely];
  });
  return usual;
}

// One more sparse column, from the bins of a dense one.
void BinnedMatrix::append_listed(const std::uint8_t* bins, std::uint8_t usual_bin) {
  usual_bin_.push_back(usual_bin);
  for (Row r = 0; r < rows_; ++r) {
    const std::uint8_t bin = bins[size_t{r} * kLanes];
    if (bin == usual_bin) continue;
    listed_rows_.push_back(r);
    listed_bins_.push_back(bin);
  }
  listed_begin_.push_back(listed_rows_.size());
}

void BinnedMatrix::list_sparse(Context& context) {
  const UsualBins usual = context.together().alone() ? usual_alone(context) : usual_in_parts(context);
  if (std::all_of(usual.bin.begin(), usual.bin.end(), [](Bin bin) { return bin == kNoUsualBin; })) return fold(context);
  const size_t had = bytes_needed(rows_, dense());
  const size_t listed = std::accumulate(usual.others.begin(), usual.others.end(), size_t{0});
  listed_rows_.reserve(listed);  // a vector that grows would take twice the memory for a while
  listed_bins_.reserve(listed);
  std::vector<std::uint8_t*> from(columns());
  std::vector<std::uint8_t> is_sparse(columns());
  for (size_t c = 0; c < columns(); ++c) {
    from[c] = dense_at(c);
    is_sparse[c] = usual.bin[c] != kNoUsualBin;
    if (is_sparse[c]) append_listed(from[c], narrow<std::uint8_t>(usual.bin[c]));
  }
  lay_out(std::move(is_sparse));
  for (size_t c : dense_) {  // in ascending order, so that a column only moves over places that are free by now
    std::uint8_t* to = dense_at(c);
    if (to == from[c]) continue;
    for (size_t r = 0; r < rows_; ++r) to[r * kLanes] = from[c][r * kLanes];
  }
  shrink(had);
  fold(context);
}

BinnedMatrix::BinnedMatrix(const SparseTable& table, Thresholds thresholds, Context& context)
    : rows_(table.rows()), thresholds_(std::move(thresholds)), has_missing_(thresholds_.columns()) {
  std::vector<std::uint8_t> is_sparse(table.columns());
  std::vector<std::int64_t> counts;  // stored values of each column, and all rows
  for (size_t c = 0; c < table.columns(); ++c) counts.push_back(narrow<std::int64_t>(table.stored(c)));
  counts.push_back(narrow<std::int64_t>(rows_));
  context.together().sum(counts, "stored values");
  for (size_t c = 0; c < table.columns(); ++c)
    is_sparse[c] = counts[c] <= counts.back() / narrow<std::int64_t>(kSparseShare);
  lay_out(std::move(is_sparse));
  allocate(nullptr);
  for (size_t c : sparse_) {
    const auto cuts = thresholds_.of(c);
    usual_bin_.push_back(bin_of(0.0, cuts.data(), cuts.size()));
    table.each(c, [&](Row row, double value) {
      const std::uint8_t bin = bin_of(value, cuts.data(), cuts.size());
      if (bin == usual_bin_.back()) return;
      listed_rows_.push_back(row);
      listed_bins_.push_back(bin);
      has_missing_[c] |= bin == cuts.size() + 1;
    });
    listed_begin_.push_back(listed_rows_.size());
  }
  listed_rows_.shrink_to_fit();
  listed_bins_.shrink_to_fit();
  context.parallel_for(dense(), 20.0 * real(dense() * rows_), [&](size_t p, size_t) {
    const size_t c = dense_[p];
    const auto cuts = thresholds_.of(c);
    std::uint8_t* out = dense_at(c);
    const std::uint8_t usual = bin_of(0.0, cuts.data(), cuts.size());
    for (size_t r = 0; r < rows_; ++r) out[r * kLanes] = usual;
    table.each(c, [&](Row row, double value) {
      const std::uint8_t bin = bin_of(value, cuts.data(), cuts.size());
      out[size_t{row} * kLanes] = bin;
      has_missing_[c] |= bin == cuts.size() + 1;
    });
  });
  fold(context);
}

BinnedMatrix::SparseColumn BinnedMatrix::listed(size_t number) const {
  const size_t begin = listed_begin_[number], end = listed_begin_[number + 1];
  return {{listed_rows_.data() + begin, end - begin}, listed_bins_.data() + begin, usual_bin_[number]};
}

std::uint8_t BinnedMatrix::bin(size_t column, size_t row) const {
  if (!is_sparse_[column]) return dense_at(column)[row * kLanes];
  const SparseColumn s = listed_of(column);
  const auto at = std::lower_bound(s.rows.begin(), s.rows.end(), narrow<Row>(row));
  return at != s.rows.end() && *at == row ? s.bins[at - s.rows.begin()] : s.usual_bin;
}

void BinnedMatrix::gather(size_t column, std::span<const Row> rows, std::uint8_t* out) const {
  if (!is_sparse_[column]) {
    const size_t p = place_[column];
    if (!folded_.empty() && folded_[p / kLanes]) {
      const std::uint8_t* bits = folded_[p / kLanes].get();
      for (size_t i = 0; i < rows.size(); ++i) out[i] = (bits[rows[i]] >> (p % kLanes)) & 1;
      return;
    }
    const std::uint8_t* bins = dense_at(column);
    for (size_t i = 0; i < rows.size(); ++i) out[i] = bins[size_t{rows[i]} * kLanes];
    return;
  }
  if (rows.empty()) return;
  const SparseColumn s = listed_of(column);
  auto at = std::lower_bound(s.rows.begin(), s.rows.end(), rows.front());
  for (size_t i = 0; i < rows.size(); ++i) {
    while (at != s.rows.end() && *at < rows[i]) ++at;
    out[i] = at != s.rows.end() && *at == rows[i] ? s.bins[at - s.rows.begin()] : s.usual_bin;
  }
}

void BinnedMatrix::copy(size_t column, size_t begin, size_t end, std::uint8_t* out, size_t step) const {
  if (!is_sparse_[column]) {
    const std::uint8_t* bins = dense_at(column);
    for (size_t r = begin; r < end; ++r) out[(r - begin) * step] = bins[r * kLanes];
    return;
  }
  const SparseColumn s = listed_of(column);
  for (size_t r = begin; r < end; ++r) out[(r - begin) * step] = s.usual_bin;
  for (auto at = std::lower_bound(s.rows.begin(), s.rows.end(), begin); at != s.rows.end() && *at < end; ++at)
    out[(*at - begin) * step] = s.bins[at - s.rows.begin()];
}

Lanes BinnedMatrix::lanes() const {
  Lanes lanes;
  lanes.rows = rows_;
  lanes.columns = dense_;
  for (size_t g = 0; g < groups(); ++g) lanes.groups.push_back(bins_.get() + g * kLanes * rows_);
  for (const auto& folded : folded_) lanes.folded.push_back(folded.get());
  return lanes;
}

void BinnedMatrix::read(size_t column, size_t begin, size_t end, double* out) const {
  const auto cuts = thresholds_.of(column);
  const bool named = categorical(column);
  auto value = [&](size_t b) {
    if (b > cuts.size()) return std::numeric_limits<double>::quiet_NaN();
    if (named) return real(b);
    return b < cuts.size() ? cuts[b] : std::numeric_limits<double>::max();
  };
  if (!is_sparse_[column]) {
    const std::uint8_t* bins = dense_at(column);
    for (size_t r = begin; r < end; ++r) out[r - begin] = value(bins[r * kLanes]);
    return;
  }
  const SparseColumn s = listed_of(column);
  std::fill_n(out, end - begin, value(s.usual_bin));
  for (auto at = std::lower_bound(s.rows.begin(), s.rows.end(), begin); at != s.rows.end() && *at < end; ++at)
    out[*at - begin] = value(s.bins[at - s.rows.begin()]);
}

namespace {

// For every row of a table its places among the chosen rows; a row may be chosen more than once.
class PlacesOfRows {
 public:
  PlacesOfRows(size_t table_rows, std::span<const Row> chosen)
      : first_(table_rows, kNoRow), next_(chosen.size(), kNoRow) {
    for (Row i = narrow<Row>(chosen.size()); i-- > 0;) {
      next_[i] = first_[chosen[i]];
      first_[chosen[i]] = i;
    }
  }
  template <class Body>
  void each(Row row, const Body& body) const {
    for (Row place = first_[row]; place != kNoRow; place = next_[place]) body(place);
  }

 private:
  std::vector<Row> first_, next_;  // a linked list for each row
};

}  // namespace

BinnedMatrix::BinnedMatrix(const BinnedMatrix& whole, std::span<const size_t> columns, std::span<const Row> rows,
                           Context& context)
    : rows_(rows.size()), thresholds_(whole.thresholds_.take(columns)), has_missing_(columns.size()) {
  std::vector<std::uint8_t> is_sparse;
  for (size_t c : columns) is_sparse.push_back(whole.is_sparse_[c]);
  lay_out(std::move(is_sparse));
  allocate(nullptr);
  bool same_places = dense() == whole.dense();  // then whole groups can be copied
  for (size_t p = 0; p < dense() && same_places; ++p) same_places = columns[dense_[p]] == whole.dense_[p];
  context.parallel_for(groups(), 2.0 * real(rows_ * dense()), [&](size_t g, size_t) {
    if (same_places)
      for (size_t r = 0; r < rows_; ++r)
        std::memcpy(bins_.get() + (g * rows_ + r) * kLanes, whole.bins_.get() + (g * whole.rows_ + rows[r]) * kLanes,
                    kLanes);
    for (size_t p = g * kLanes; p < std::min(dense(), (g + 1) * kLanes); ++p) {
      const size_t c = dense_[p];
      const std::uint8_t* in = whole.dense_at(columns[c]);
      std::uint8_t* out = dense_at(c);
      for (size_t r = 0; r < rows_ && !same_places; ++r) out[r * kLanes] = in[size_t{rows[r]} * kLanes];
      bool any_missing = false;
      for (size_t r = 0; r < rows_; ++r) any_missing |= out[r * kLanes] == value_bins(c);
      has_missing_[c] = any_missing;
    }
  });
  fold(context);
  take_sparse(whole, columns, rows);
}

void BinnedMatrix::take_sparse(const BinnedMatrix& whole, std::span<const size_t> columns, std::span<const Row> rows) {
  if (sparse_.empty()) return;
  const PlacesOfRows places(whole.rows_, rows);
  std::vector<std::pair<Row, std::uint8_t>> column;
  for (size_t c : sparse_) {
    const SparseColumn from = whole.listed_of(columns[c]);
    column.clear();
    for (size_t i = 0; i < from.rows.size(); ++i)
      places.each(from.rows[i], [&](Row place) { column.emplace_back(place, from.bins[i]); });
    std::sort(column.begin(), column.end());
    for (const auto& [row, bin] : column) {
      listed_rows_.push_back(row);
      listed_bins_.push_back(bin);
      has_missing_[c] |= bin == value_bins(c);
    }
    listed_begin_.push_back(listed_rows_.size());
    usual_bin_.push_back(from.usual_bin);
  }
}

}  // namespace frugal
