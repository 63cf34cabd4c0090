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

#include "data/levels.hpp"
#include "support/limits.hpp"

namespace frugal {

void Thresholds::add(std::span<const double> column, bool is_categorical) {
  cuts.insert(cuts.end(), column.begin(), column.end());
  offsets.push_back(static_cast<std::int64_t>(cuts.size()));
  categorical.push_back(is_categorical);
}

Thresholds Thresholds::take(std::span<const std::int64_t> chosen) const {
  Thresholds taken;
  for (std::int64_t c : chosen) taken.add(of(static_cast<size_t>(c)), categorical[static_cast<size_t>(c)]);
  return taken;
}

namespace {

// Columns of so many rows that are summarised together.
size_t summarised_at_once(size_t rows) {
  return std::max(kSummaryColumns, kSummaryCells / std::max<size_t>(1, rows));
}

}  // namespace

// Columns are copied out some at a time, because a row-major table is read by cache lines; few, and a stretch of rows
// at a time, because the copy must stay small beside the table.
void ThresholdFinder::add(const Table& table, const std::int64_t* units, Context& context) {
  const size_t stretch = std::min(table.rows(), kSummaryRows), width = std::min(columns(), summarised_at_once(stretch));
  std::vector<double> copy(stretch * width);
  std::vector<Summary::Spare> spare(static_cast<size_t>(context.threads()));
  for (size_t begin = 0; begin < table.rows(); begin += stretch) {
    const size_t n = std::min(stretch, table.rows() - begin);
    for (size_t at = 0; at < columns(); at += width) {
      const size_t count = std::min(width, columns() - at);
      context.over_blocks(n, 512, static_cast<double>(count), [&](size_t from, size_t to, size_t) {
        for (size_t c = 0; c < count; ++c)
          table.read(first_ + at + c, begin + from, begin + to, copy.data() + c * n + from);
      });
      context.parallel_for(count, 20.0 * static_cast<double>(n * count), [&](size_t c, int thread) {
        summaries_[at + c].add({copy.data() + c * n, n}, units ? units + begin : nullptr,
                               spare[static_cast<size_t>(thread)]);
      });
    }
  }
}

void ThresholdFinder::add(const SparseTable& table, const std::int64_t* units, Context& context) {
  std::int64_t total = static_cast<std::int64_t>(table.rows());
  if (units) {
    total = 0;
    for (size_t r = 0; r < table.rows(); ++r) total += units[r];
  }
  struct Stored {
    Summary::Spare spare;
    std::vector<double> values;
    std::vector<std::int64_t> units;
  };
  std::vector<Stored> stored(static_cast<size_t>(context.threads()));
  constexpr size_t kBlock = 64;
  const size_t values = table.begin_of(first_ + columns()) - table.begin_of(first_);
  const double work = 20.0 * static_cast<double>(values + columns());
  context.parallel_for((columns() + kBlock - 1) / kBlock, work, [&](size_t block, int thread) {
    Stored& s = stored[static_cast<size_t>(thread)];
    for (size_t c = block * kBlock; c < std::min(columns(), (block + 1) * kBlock); ++c) {
      s.values.clear();
      s.units.clear();
      std::int64_t rest = total;
      table.each(first_ + c, [&](Row row, double value) {
        s.values.push_back(value);
        if (units) s.units.push_back(units[row]);
        rest -= units ? units[row] : 1;
      });
      summaries_[c].add(s.values, units ? s.units.data() : nullptr, s.spare);
      summaries_[c].add(0.0, rest);
    }
  });
}

// Some columns at a time: what is known of all of them may be larger than the table.
void ThresholdFinder::add_parts(Together& together) {
  if (together.alone()) return;
  constexpr size_t kAtOnce = 64;
  for (size_t first = 0; first < columns(); first += kAtOnce) {
    const size_t last = std::min(columns(), first + kAtOnce);
    std::vector<std::int64_t> own;  // of each column how many numbers, and these
    for (size_t c = first; c < last; ++c) {
      const auto packed = summaries_[c].packed();
      own.push_back(static_cast<std::int64_t>(packed.size()));
      own.insert(own.end(), packed.begin(), packed.end());
    }
    const auto all = gathered(together, own, "summaries of columns");
    for (size_t part = 0; part < all.size(); ++part) {
      if (part == together.part()) continue;
      std::span<const std::int64_t> rest = all[part];
      for (size_t c = first; c < last; ++c) {
        const auto size = static_cast<size_t>(rest[0]);
        summaries_[c].add_packed(rest.subspan(1, size));
        rest = rest.subspan(1 + size);
      }
    }
  }
}

void ThresholdFinder::append_to(Thresholds& out, int max_bins, Context& context) const {
  std::vector<std::vector<double>> cuts(columns());
  context.over_blocks(columns(), 16, 1000.0, [&](size_t begin, size_t end, size_t) {
    for (size_t c = begin; c < end; ++c) cuts[c] = summaries_[c].cuts(max_bins);
  });
  for (const auto& column : cuts) out.add(column, false);
}

template <class AnyTable>
Thresholds thresholds_of(const AnyTable& table, const std::int64_t* units, int max_bins, size_t most_cells,
                         Context& context) {
  const size_t width = summarised_at_once(table.rows());
  Thresholds out;
  for (size_t first = 0; first < table.columns(); first += width) {
    ThresholdFinder some(std::min(width, table.columns() - first), most_cells, first);
    some.add(table, units, context);
    some.append_to(out, max_bins, context);
  }
  return out;
}

template Thresholds thresholds_of(const Table&, const std::int64_t*, int, size_t, Context&);
template Thresholds thresholds_of(const SparseTable&, const std::int64_t*, int, size_t, Context&);

namespace {

// First b with v <= cuts[b]; a branch-free binary search, since bins are hard to predict.
inline std::uint8_t bin_of(double v, const double* cuts, size_t count) {
  if (std::isnan(v)) return static_cast<std::uint8_t>(count + 1);
  if (count == 0) return 0;
  const double* base = cuts;
  while (count > 1) {
    size_t half = count / 2;
    base += half & -static_cast<size_t>(base[half - 1] < v);
    count -= half;
  }
  return static_cast<std::uint8_t>(base - cuts + (*base < v));
}

}  // namespace

void BinnedMatrix::lay_out(const std::vector<bool>& is_sparse) {
  for (size_t c = 0; c < thresholds_.columns(); ++c) {
    if (is_sparse[c]) {
      place_.push_back(~static_cast<std::int32_t>(sparse_.size()));
      sparse_.push_back(c);
    } else {
      place_.push_back(static_cast<std::int32_t>(dense_.size()));
      dense_.push_back(c);
    }
  }
}

void BinnedMatrix::allocate(Bytes memory) {
  borrowed_ = memory != nullptr;
  bins_ = std::move(memory);
  if (borrowed_) return;
  void* zeros = std::calloc(std::max<size_t>(1, bytes_needed(rows_, dense())), 1);
  if (zeros == nullptr) throw std::bad_alloc();
  bins_ = Bytes(static_cast<std::uint8_t*>(zeros), [](std::uint8_t* p) { std::free(p); });
}

// Gives back the memory behind the last group; `had` bytes were allocated. Where the system can take pages back,
// nothing is copied: a second copy of a large table would be the most memory that a fit ever needs.
void BinnedMatrix::shrink(size_t had) {
  const size_t needed = std::max<size_t>(1, bytes_needed(rows_, dense()));
  if (borrowed_ || needed >= had) return;
#ifdef __linux__
  constexpr size_t kWorthIt = size_t{1} << 20;
  if (had - needed >= kWorthIt) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
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
  lay_out(std::vector<bool>(thresholds_.columns()));
  allocate(std::move(memory));
}

void BinnedMatrix::fill(const Table& batch, std::span<const std::int64_t> places, Context& context) {
  constexpr size_t kRows = 512, kColumns = 64 * kLanes;  // of a tile; wide tables of few rows have many, too
  const size_t n = batch.rows(), d = columns(), across = (d + kColumns - 1) / kColumns;
  const size_t tiles = (n + kRows - 1) / kRows * across;
  std::vector<std::uint8_t> missing_in_block((n + kRows - 1) / kRows * d);
  context.parallel_for(tiles, 20.0 * static_cast<double>(n * d), [&](size_t tile, int) {
    const size_t block = tile / across, begin = block * kRows, end = std::min(n, begin + kRows);
    const size_t first = tile % across * kColumns, last = std::min(d, first + kColumns);
    double values[kRows];
    for (size_t c = first; c < last; ++c) {
      const auto cuts = thresholds_.of(c);
      const auto missing = static_cast<std::uint8_t>(cuts.size() + 1);
      std::uint8_t* out = dense_at(c);
      bool any_missing = false;
      batch.read(c, begin, end, values);
      for (size_t r = begin; r < end; ++r) {
        if (places[r] < 0) continue;
        const std::uint8_t bin = bin_of(values[r - begin], cuts.data(), cuts.size());
        out[static_cast<size_t>(places[r]) * kLanes] = bin;
        any_missing |= bin == missing;
      }
      missing_in_block[block * d + c] = any_missing;
    }
  });
  // From these rows, not from those the thresholds were found on: a continued fit may bring the first missing value.
  for (size_t i = 0; i < missing_in_block.size(); ++i) has_missing_[i % d] |= missing_in_block[i];
}

// One bit a row for columns of two bins, where a group has none but such.
void BinnedMatrix::fold(Context& context) {
  folded_.clear();
  folded_.resize(groups());
  context.parallel_for(groups(), static_cast<double>(rows_ * dense()), [&](size_t g, int) {
    const size_t first = g * kLanes, last = std::min(dense(), first + kLanes);
    for (size_t p = first; p < last; ++p)
      if (cells(dense_[p]) > 2 || has_missing_[dense_[p]] || categorical(dense_[p])) return;
    if (last - first < 3) return;  // hardly worth it
    folded_[g] = Bytes(new std::uint8_t[rows_]);
    const std::uint8_t* from = bins_.get() + g * kLanes * rows_;
    for (size_t r = 0; r < rows_; ++r) {
      unsigned bits = 0;
      for (size_t lane = 0; lane < last - first; ++lane) bits |= static_cast<unsigned>(from[r * kLanes + lane]) << lane;
      folded_[g][r] = static_cast<std::uint8_t>(bits);
    }
  });
}

size_t BinnedMatrix::two_valued_share() const {
  size_t two = 0;
  for (size_t c = 0; c < columns(); ++c) two += value_bins(c) == 2;
  return 2 * two > columns() ? kSparseShare * kFoldedShare : kSparseShare;
}

// The bin that nearly all rows of a column have, in all parts of the table; -1: there is none.
std::vector<int> BinnedMatrix::usual_in_parts(Context& context) const {
  Together& together = context.together();
  const std::int64_t rows = sum_of(together, static_cast<std::int64_t>(rows_), "rows in bins");
  const size_t two_valued_share = this->two_valued_share();
  std::vector<int> usual(columns(), -1);
  constexpr size_t kAtOnce = 256;
  for (size_t first = 0; first < columns(); first += kAtOnce) {
    const size_t count = std::min(kAtOnce, columns() - first);
    std::vector<std::int64_t> counts(count * kMostBins);
    context.parallel_for(count, static_cast<double>(rows_ * count), [&](size_t i, int) {
      const std::uint8_t* bins = dense_at(first + i);
      for (size_t r = 0; r < rows_; ++r) ++counts[i * kMostBins + bins[r * kLanes]];
    });
    together.sum(counts, "rows by bin");
    for (size_t i = 0; i < count; ++i) {
      const size_t c = first + i;
      const auto own = std::span(counts).subspan(i * kMostBins, kMostBins);
      const int likely = static_cast<int>(std::max_element(own.begin(), own.end()) - own.begin());
      const auto share = static_cast<std::int64_t>(value_bins(c) == 2 ? two_valued_share : kSparseShare);
      const bool sparse = rows - own[static_cast<size_t>(likely)] <= rows / share;
      if (sparse && !categorical(c) && likely != value_bins(c)) usual[c] = likely;
    }
  }
  return usual;
}

// The same where all rows are here: most columns are not worth a full count.
std::vector<int> BinnedMatrix::usual_alone(Context& context) const {
  const size_t two_valued_share = this->two_valued_share();
  std::vector<int> usual(columns(), -1);
  context.parallel_for(columns(), static_cast<double>(rows_ * columns()), [&](size_t c, int) {
    if (categorical(c)) return;
    std::array<Row, kMostBins> counts{};
    const std::uint8_t* bins = dense_at(c);
    const size_t some = std::min<size_t>(rows_, 1024);
    for (size_t r = 0; r < some; ++r) ++counts[bins[r * kLanes]];
    const auto likely = static_cast<size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    if (counts[likely] < some / 2 || likely == static_cast<size_t>(value_bins(c))) return;  // not worth a full count
    for (size_t r = some; r < rows_; ++r) counts[likely] += bins[r * kLanes] == likely;
    const size_t share = value_bins(c) == 2 ? two_valued_share : kSparseShare;
    if (rows_ - counts[likely] <= rows_ / share) usual[c] = static_cast<int>(likely);
  });
  return usual;
}

void BinnedMatrix::list_sparse(Context& context) {
  const std::vector<int> usual = context.together().alone() ? usual_alone(context) : usual_in_parts(context);
  if (std::all_of(usual.begin(), usual.end(), [](int bin) { return bin < 0; })) return fold(context);
  const size_t had = bytes_needed(rows_, dense());
  std::vector<size_t> others(columns());  // rows that have another bin
  context.parallel_for(columns(), static_cast<double>(rows_ * columns()), [&](size_t c, int) {
    if (usual[c] < 0) return;
    const std::uint8_t* bins = dense_at(c);
    for (size_t r = 0; r < rows_; ++r) others[c] += bins[r * kLanes] != usual[c];
  });
  const size_t listed = std::accumulate(others.begin(), others.end(), size_t{0});
  listed_rows_.reserve(listed);  // to grow would take twice the memory for a while
  listed_bins_.reserve(listed);
  std::vector<std::uint8_t*> from(columns());
  std::vector<bool> is_sparse(columns());
  for (size_t c = 0; c < columns(); ++c) {
    from[c] = dense_at(c);
    is_sparse[c] = usual[c] >= 0;
    if (!is_sparse[c]) continue;
    usual_bin_.push_back(static_cast<std::uint8_t>(usual[c]));
    for (size_t r = 0; r < rows_; ++r) {
      if (from[c][r * kLanes] == usual[c]) continue;
      listed_rows_.push_back(static_cast<Row>(r));
      listed_bins_.push_back(from[c][r * kLanes]);
    }
    listed_begin_.push_back(static_cast<std::int64_t>(listed_rows_.size()));
  }
  place_.clear();
  dense_.clear();
  lay_out(is_sparse);
  for (size_t c : dense_) {  // a column moves to a place that is its own already, or nobody's any more
    std::uint8_t* to = dense_at(c);
    if (to == from[c]) continue;
    for (size_t r = 0; r < rows_; ++r) to[r * kLanes] = from[c][r * kLanes];
  }
  shrink(had);
  fold(context);
}

BinnedMatrix::BinnedMatrix(const SparseTable& table, Thresholds thresholds, Context& context)
    : rows_(table.rows()), thresholds_(std::move(thresholds)), has_missing_(thresholds_.columns()) {
  std::vector<bool> is_sparse(table.columns());
  const size_t two_valued = two_valued_share();
  std::vector<std::int64_t> counts;  // stored values of each column, and all rows
  for (size_t c = 0; c < table.columns(); ++c) counts.push_back(static_cast<std::int64_t>(table.stored(c)));
  counts.push_back(static_cast<std::int64_t>(rows_));
  context.together().sum(counts, "stored values");
  for (size_t c = 0; c < table.columns(); ++c)
    is_sparse[c] =
        counts[c] <= counts.back() / static_cast<std::int64_t>(value_bins(c) == 2 ? two_valued : kSparseShare);
  lay_out(is_sparse);
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
    listed_begin_.push_back(static_cast<std::int64_t>(listed_rows_.size()));
  }
  listed_rows_.shrink_to_fit();
  listed_bins_.shrink_to_fit();
  context.parallel_for(dense(), 20.0 * static_cast<double>(dense() * rows_), [&](size_t p, int) {
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
  const auto begin = static_cast<size_t>(listed_begin_[number]), end = static_cast<size_t>(listed_begin_[number + 1]);
  return {{listed_rows_.data() + begin, end - begin}, listed_bins_.data() + begin, usual_bin_[number]};
}

int BinnedMatrix::bin(size_t column, size_t row) const {
  if (place_[column] >= 0) return dense_at(column)[row * kLanes];
  const SparseColumn s = listed(static_cast<size_t>(~place_[column]));
  const auto at = std::lower_bound(s.rows.begin(), s.rows.end(), static_cast<Row>(row));
  return at != s.rows.end() && *at == row ? s.bins[at - s.rows.begin()] : s.usual_bin;
}

void BinnedMatrix::gather(size_t column, std::span<const Row> rows, std::uint8_t* out) const {
  if (place_[column] >= 0) {
    const auto p = static_cast<size_t>(place_[column]);
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
  const SparseColumn s = listed(static_cast<size_t>(~place_[column]));
  auto at = std::lower_bound(s.rows.begin(), s.rows.end(), rows.front());
  for (size_t i = 0; i < rows.size(); ++i) {
    while (at != s.rows.end() && *at < rows[i]) ++at;
    out[i] = at != s.rows.end() && *at == rows[i] ? s.bins[at - s.rows.begin()] : s.usual_bin;
  }
}

void BinnedMatrix::copy(size_t column, size_t begin, size_t end, std::uint8_t* out, size_t step) const {
  if (place_[column] >= 0) {
    const std::uint8_t* bins = dense_at(column);
    for (size_t r = begin; r < end; ++r) out[(r - begin) * step] = bins[r * kLanes];
    return;
  }
  const SparseColumn s = listed(static_cast<size_t>(~place_[column]));
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
    if (named) return static_cast<double>(b);
    return b < cuts.size() ? cuts[b] : std::numeric_limits<double>::max();
  };
  if (place_[column] >= 0) {
    const std::uint8_t* bins = dense_at(column);
    for (size_t r = begin; r < end; ++r) out[r - begin] = value(bins[r * kLanes]);
    return;
  }
  const SparseColumn s = listed(static_cast<size_t>(~place_[column]));
  std::fill_n(out, end - begin, value(s.usual_bin));
  for (auto at = std::lower_bound(s.rows.begin(), s.rows.end(), begin); at != s.rows.end() && *at < end; ++at)
    out[*at - begin] = value(s.bins[at - s.rows.begin()]);
}

namespace {

// For every row of a table the places that it takes among chosen rows; a row may be chosen more than once.
class PlacesOfRows {
 public:
  PlacesOfRows(size_t table_rows, std::span<const std::int64_t> chosen)
      : first_(table_rows, kNone), next_(chosen.size(), kNone) {
    for (size_t i = chosen.size(); i-- > 0;) {
      next_[i] = first_[static_cast<size_t>(chosen[i])];
      first_[static_cast<size_t>(chosen[i])] = static_cast<Row>(i);
    }
  }
  template <class Body>
  void each(Row row, const Body& body) const {
    for (Row place = first_[row]; place != kNone; place = next_[place]) body(place);
  }

 private:
  static constexpr Row kNone = 0xFFFFFFFFu;
  std::vector<Row> first_, next_;
};

}  // namespace

BinnedMatrix::BinnedMatrix(const BinnedMatrix& whole, std::span<const std::int64_t> columns,
                           std::span<const std::int64_t> rows, Context& context)
    : rows_(rows.size()), thresholds_(whole.thresholds_.take(columns)), has_missing_(columns.size()) {
  std::vector<bool> is_sparse;
  for (std::int64_t c : columns) is_sparse.push_back(whole.place_[static_cast<size_t>(c)] < 0);
  lay_out(is_sparse);
  allocate(nullptr);
  bool same_places = dense() == whole.dense();  // then whole groups can be copied
  for (size_t p = 0; p < dense() && same_places; ++p)
    same_places = static_cast<size_t>(columns[dense_[p]]) == whole.dense_[p];
  context.parallel_for(groups(), 2.0 * static_cast<double>(rows_ * dense()), [&](size_t g, int) {
    if (same_places)
      for (size_t r = 0; r < rows_; ++r)
        std::memcpy(bins_.get() + (g * rows_ + r) * kLanes,
                    whole.bins_.get() + (g * whole.rows_ + static_cast<size_t>(rows[r])) * kLanes, kLanes);
    for (size_t p = g * kLanes; p < std::min(dense(), (g + 1) * kLanes); ++p) {
      const size_t c = dense_[p];
      const std::uint8_t* in = whole.dense_at(static_cast<size_t>(columns[c]));
      std::uint8_t* out = dense_at(c);
      for (size_t r = 0; r < rows_ && !same_places; ++r) out[r * kLanes] = in[static_cast<size_t>(rows[r]) * kLanes];
      bool any_missing = false;
      for (size_t r = 0; r < rows_; ++r) any_missing |= out[r * kLanes] == value_bins(c);
      has_missing_[c] = any_missing;
    }
  });
  fold(context);
  if (sparse_.empty()) return;
  const PlacesOfRows places(whole.rows_, rows);
  std::vector<std::pair<Row, std::uint8_t>> column;
  for (size_t c : sparse_) {
    const SparseColumn from = whole.listed(static_cast<size_t>(~whole.place_[static_cast<size_t>(columns[c])]));
    column.clear();
    for (size_t i = 0; i < from.rows.size(); ++i)
      places.each(from.rows[i], [&](Row place) { column.emplace_back(place, from.bins[i]); });
    std::sort(column.begin(), column.end());
    for (const auto& [row, bin] : column) {
      listed_rows_.push_back(row);
      listed_bins_.push_back(bin);
      has_missing_[c] |= bin == value_bins(c);
    }
    listed_begin_.push_back(static_cast<std::int64_t>(listed_rows_.size()));
    usual_bin_.push_back(from.usual_bin);
  }
}

}  // namespace frugal
