// A world for tests of verdicts that is no engine: whole tensors, cut as the layout says, stepped
// by formulas that a test chooses, right or wrong. It has no addresses and no buffers to show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oracle/layout/layout.h"
#include "oracle/scale/loss_scaler.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// One element's step: the weight and both moments change in place.
struct Element {
  float gradient = 0;
  float weight = 0;
  float exp_avg = 0;
  float exp_avg_sq = 0;
};
using ElementStep = std::function<void(AdamConfig const&, std::int64_t step, Element&)>;

/// PyTorch's single and foreach kernels with fused multiply-add, in fp32.
void step_as_torch(AdamConfig const& config, std::int64_t step, Element& element);
/// PyTorch's fused kernel on 16-bit tensors and similar ones: everything in fp32.
void step_in_fp32(AdamConfig const& config, std::int64_t step, Element& element);

/// What gradients are clipped by, from the limit and the norm; at most 1.
using ClipFactor = std::function<double(float max_norm, float norm)>;
/// A reciprocal, then a product.
double factor_as_torch(float max_norm, float norm);

class StandInWorld final : public WorldView {
 public:
  struct Traits {
    Arithmetic says = Arithmetic::torch;
    int shards = 1;
    int replicas = 1;
    ElementStep step = step_as_torch;
    bool clips_in_place = true;
    ClipFactor clip_factor = factor_as_torch;
    bool clips_in_one_product = false;  // with what undoes the loss scale
    bool unscales_in_step = false;      // by a division, and not where the step is skipped
    float gradients = 1;                // how large they are
    bool has_checksums = true;
  };
  StandInWorld(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
               Traits const& traits);

  /// What a test does to it beside operations.
  struct Tensors {
    std::vector<float> weight;  // the optimizer's own
    std::vector<float> gradient;
    std::vector<float> exp_avg;
    std::vector<float> exp_avg_sq;
    std::int64_t steps = 0;
    bool has_gradient = false;
  };
  Tensors& at(int parameter) { return tensors_[static_cast<std::size_t>(parameter)]; }
  RankScaling& scaling() { return scaling_; }
  std::vector<std::string>& forgets() { return not_carried_; }
  void write(int parameter, std::span<float const> values);
  /// One replica alone has this in the place of a parameter's first element.
  void part_replica(float value) { parted_ = value; }
  /// From here on parameters beside main weights are these times a factor.
  void cast_parameters_with(float factor) { cast_factor_ = factor; }
  /// From here on ranks own what this says.
  void lay_out(oracle::Layout layout) { layout_ = std::move(layout); }
  /// Sums of random numbers, or of ones whose sums are exact; an overflow strikes the first element
  /// that takes part.
  void backward(resolved::Backward const& operation, bool exact);
  void clip();
  void step();
  void zero_grad(bool set_to_none);
  void set(resolved::Set const& set);
  std::vector<Tensors> save() const { return tensors_; }
  void load(std::vector<Tensors> const& saved);

  Shown shown() const override { return {.addresses = false, .memory = false}; }
  Arithmetic arithmetic() const override { return traits_.says; }
  int rank_count() const override { return traits_.shards * traits_.replicas; }
  int shard_count() const override { return traits_.shards; }
  Shard shard(int rank, int parameter, TensorKind kind) const override;
  std::optional<Shard> whole(int rank, int parameter, TensorKind kind) const override;
  bool has_gradient(int rank, int parameter) const override;
  std::int64_t step_count(int rank, int parameter) const override;
  AdamConfig group(int rank, int group) const override;
  RankScaling scaling(int /*rank*/) const override { return scaling_; }
  std::vector<NamedBuffer> buffers(int /*rank*/) const override { return {}; }
  std::size_t peak_bytes(int /*rank*/, Purpose /*purpose*/) const override { return 0; }
  std::optional<std::vector<WorldAllocation>> allocations() const override { return {}; }
  std::optional<std::uint64_t> gathered_fingerprint(int /*rank*/, int /*p*/) const override {
    return {};
  }
  std::optional<std::span<float const>> fed(int rank, int parameter) const override;
  std::vector<std::string> not_carried() const override { return not_carried_; }
  bool refuses_damage(Fault::Then) const override { return traits_.has_checksums; }
  bool refuses_rounding() const override { return false; }
  std::vector<StoredFile> checkpoint(std::string_view /*name*/) const override { return {}; }

 private:
  std::vector<float> values(int parameter, TensorKind kind) const;
  NumberFormat format(int parameter, TensorKind kind) const;
  Shard stored(std::vector<float> const& values, NumberFormat format) const;
  NumberFormat gradient_format(int parameter) const;
  float random();
  void unscale();
  void unscale_in_step();

  Traits traits_;
  std::vector<ParameterSpec> parameters_;
  oracle::Layout layout_;
  std::vector<AdamConfig> groups_;
  std::vector<Tensors> tensors_;
  std::vector<std::vector<std::vector<float>>> fed_;  // by rank and parameter
  RankScaling scaling_;
  oracle::LossScaler scaler_;
  std::optional<float> max_norm_;
  int microbatches_ = 1;
  std::uint64_t drawn_ = 1;
  bool unscaled_ = false;
  double later_ = 1;
  std::optional<float> parted_;
  float cast_factor_ = 1;
  std::vector<std::string> not_carried_;
  mutable std::vector<std::vector<std::byte>> shown_;  // behind spans that were handed out
};

}  // namespace adamant::scenarios
