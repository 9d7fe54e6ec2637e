#include "scenarios/peers/client/peer_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/layout/layout.h"
#include "scenarios/gradients/overflow.h"
#include "scenarios/language/operations.h"
#include "scenarios/peers/client/requests.h"
#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

namespace {

using Json = PeerClient::Json;

// Makes the values of worlds that are about to load unlike any that a run of this seed saves.
constexpr std::uint64_t other_values = 0x6c62272e07bb0142ULL;
constexpr std::uint64_t fold_factor = 0x9e3779b97f4a7c15ULL;

/// What loads have to refuse although it harms nobody: an engine without checksums of everything
/// notices what it comes across.
std::vector<Fault::Then> always_refused(Capabilities const& engine) {
  bool const has_checksums = offers(engine.detects_damage, Fault::Then::flip_byte);
  return has_checksums ? engine.detects_damage : std::vector<Fault::Then>();
}

/// What a rank says of itself explains why others waited for it in vain. -1: all are well.
int first_failure(std::vector<RankOutcome> const& outcomes) {
  for (auto const kind :
       {RankOutcome::Kind::error, RankOutcome::Kind::died, RankOutcome::Kind::timed_out})
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
      if (outcomes[rank].kind == kind) return static_cast<int>(rank);
  return -1;
}

std::vector<replies::NamedGroup> named_groups(Scenario const& scenario) {
  auto const configs = adam_configs(scenario);
  std::vector<replies::NamedGroup> groups;
  for (std::size_t g = 0; g < configs.size(); ++g)
    groups.push_back({.name = requests::name_of_group(scenario.groups, g), .config = configs[g]});
  return groups;
}

std::string text_of(float value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

}  // namespace

// Both together are offered for recipes in which one of the two is fp32, or both are the same.
NumberFormat unreduced_format(Formats const& formats, GradientType type) {
  bool const narrow = formats.parameter != NumberFormat::fp32;
  bool const by_parameter = type == GradientType::param || (type == GradientType::both && narrow);
  return by_parameter ? formats.parameter : formats.gradient;
}

PeerRun::PeerRun(PeerClient& client, Capabilities const& capabilities, EngineTask const& task,
                 Observer& observer)
    : client_(client),
      capabilities_(capabilities),
      task_(task),
      observer_(observer),
      room_("run"),
      files_(task.scenario, room_.path() / "checkpoints"),
      walk_(task.program) {}

EngineEnd PeerRun::run() {
  for (std::string const& checkpoint : loaded_from_outside(task_.scenario.program))
    files_.import(task_.foreign_checkpoints, checkpoint);
  if (open(nullptr, -1)) {
    go_on_ = observer_.started(*world_);
    execute_program();
  }
  if (world_ && !end_.failure && finish_save()) observer_.finished(*world_);
  if (world_) ask("close", Json::object(), -1);
  if (!end_.failure) observer_.ended({});
  return std::move(end_);
}

void PeerRun::execute_program() {
  while (go_on_) {
    auto operation = walk_.next();
    if (!operation) return;
    auto* const loaded = std::get_if<resolved::Load>(&operation->what);
    if (loaded != nullptr && !world_) loaded->clip = walk_.forget_settings();
    if (loaded != nullptr)
      load(*operation, *loaded);
    else if (world_)  // none after a crash, until the next load
      execute(*operation);
  }
}

void PeerRun::execute(Primitive const& operation) {
  if (clips(operation) && !walk_.clip()) {
    end_.failure = clip_without_norm(operation);
    go_on_ = false;
    return;
  }
  int const entry = operation.entry;
  match(
      operation.what, [&](resolved::Backward const& each) { backward(each, entry); },
      [&](ClipNorm const&) { ask("clip", Json::object(), entry); },
      [&](Step const&) { ask("step", Json::object(), entry); },
      [&](ZeroGrad const& zero_grad) {
        overflowed_ = false;
        ask("zero_grad", {{"set_to_none", zero_grad.set_to_none}}, entry);
      },
      [&](resolved::Set const& set) { ask("set", requests::set(set), entry); },
      [&](Save const& each) { save(operation, each.checkpoint); },
      [](OneOf<Overflow, Check> auto const&) {},  // an overflow strikes in the next backward
      // refuse() lets none pass; a load has a way of its own
      [](OneOf<resolved::Load, resolved::Capture, resolved::Replay, OffloadStates,
               ReloadStates> auto const&) { ADAMANT_RUN_ASSERT(false); });
  if (!world_ || !go_on_) return;
  if (!is<Overflow>(operation.what)) world_->look_anew();  // there nobody was asked for anything
  show(operation);
}

std::optional<OverflowElement> PeerRun::overflow_in_this(resolved::Backward const& backward) const {
  return overflow_in(backward,
                     {.seed = task_.seed,
                      .microbatch_count = static_cast<int>(task_.scenario.microbatch_count()),
                      .parameters = parameters_});
}

// Either way leads to the same gradient where what is overwritten is finite, so a seed chooses one
// for all of its overflows. With replicas a shard is not one rank's alone.
std::optional<int> PeerRun::owner_of(std::optional<OverflowElement> const& overflow) const {
  float const scale = world_->scaling(0).loss_scale;
  bool const sharded = setting_.world.replicate == 1;
  if (!overflow || !capabilities_.local_gradients || !sharded || task_.seed % 2 == 0) return {};
  ParameterSpec const& spec = parameters_[static_cast<std::size_t>(overflow->name)];
  if (overflowed_ || !stays_finite(spec.formats, task_.scenario.gradients, scale)) return {};
  oracle::Layout const layout =
      oracle::lay_out(setting_.layout, {&spec, 1}, mesh_of(setting_.world));
  return layout.owner(0, overflow->element, TensorKind::gradient);
}

void PeerRun::backward(resolved::Backward const& backward, int entry) {
  std::vector<NumberFormat> formats;
  for (ParameterSpec const& spec : parameters_)
    formats.push_back(unreduced_format(spec.formats, capabilities_.gradient_type));
  FedGradients const gradients{.parameters = parameters_,
                               .formats = formats,
                               .kind = task_.scenario.gradients,
                               .seed = task_.seed,
                               .microbatches = static_cast<int>(task_.scenario.microbatch_count()),
                               .ranks = static_cast<int>(setting_.world.rank_count())};
  auto const overflow = overflow_in_this(backward);
  auto const owner = owner_of(overflow);
  overflowed_ = overflowed_ || overflow;
  auto fed = fed_gradients(gradients, backward.index, overflow);
  auto const written = owner ? fed_gradients(gradients, backward.index, std::nullopt) : fed;

  Json request = {{"gradients", Json::array()}, {"without", Json::array()}};
  for (std::size_t rank = 0; rank < written.size(); ++rank) {
    auto const path = room_.path() / fmt::format("gradients-{}.safetensors", rank);
    write_whole(path, parameters_, written[rank]);
    request["gradients"].push_back(path.string());
  }
  for (int const p : backward.without)
    request["without"].push_back(parameters_[static_cast<std::size_t>(p)].name);
  request["loss_scale"] = world_->scaling(0).loss_scale;
  if (owner)
    request["overflow"] = {{"rank", *owner},
                           {"name", parameters_[static_cast<std::size_t>(overflow->name)].name},
                           {"index", overflow->element},
                           {"value", text_of(overflow->value)}};
  world_->feed(std::move(fed));
  ask("backward", std::move(request), entry);
}

void PeerRun::save(Primitive const& operation, std::string const& checkpoint) {
  if (!finish_save()) return;
  Json request = {{"directory", files_.path_of(checkpoint).string()}};
  auto const wanted = files_.begin_save();
  if (!wanted) {
    auto const reply = ask("save", std::move(request), operation.entry);
    if (!reply) return;
    world_->lose(replies::not_carried_of(*reply));
    if (replies::flag_of(*reply, "unfinished")) world_->leave_unfinished(operation.entry);
    if (files_.keeps_old() && !finish_save()) return;
    return files_.end_save(checkpoint);
  }
  std::int64_t const rank = wanted->rank % world_->rank_count();
  request["crash"] = {{"rank", rank}, {"operation", wanted->operation}};
  auto const reply = client_.request("save", std::move(request));
  auto const outcomes = replies::outcomes_of(reply, world_->rank_count());
  bool const returned = first_failure(outcomes) < 0;
  bool const as_wanted = outcomes[static_cast<std::size_t>(rank)].kind == RankOutcome::Kind::died;
  if (!returned && !as_wanted) return fail("save", outcomes, operation.entry);
  crash(operation, returned);
}

bool PeerRun::finish_save() {
  auto const save = world_ ? world_->take_unfinished() : std::nullopt;
  return !save || ask("finish", Json::object(), *save).has_value();
}

// Whoever survived its last file operation dies right after the save.
void PeerRun::crash(Primitive const& save, bool returned) {
  if (returned) client_.request("close");
  world_.reset();
  observer_.crashed(save, returned);
}

void PeerRun::load(Primitive const& operation, resolved::Load const& load) {
  if (!finish_save()) return;
  if (!world_ || load.sets_anew) {
    if (!open(&load, operation.entry)) return;
    go_on_ = observer_.restarted(operation, *world_);
    if (!go_on_) return;
  }
  DamagedFiles const damage = files_.begin_load(load.checkpoint);
  if (!damage.empty()) observer_.damaged(operation, damage);
  Json request = {{"directory", files_.path_of(load.checkpoint).string()}};
  if (load.anew && capabilities_.loads_anew) request["anew"] = true;
  auto const reply = client_.request("load", std::move(request));
  auto const outcomes = replies::outcomes_of(reply, world_->rank_count());
  int const failed = first_failure(outcomes);
  if (failed >= 0 && outcomes[static_cast<std::size_t>(failed)].kind == RankOutcome::Kind::error)
    return refuse(operation, outcomes, replies::flag_of(reply, "holds"));
  if (failed >= 0) return fail("load", outcomes, operation.entry);
  world_->lose(replies::not_carried_of(reply));
  world_->look_anew();
  put_in_force();
  show(operation);
}

void PeerRun::put_in_force() {
  auto const lost = world_->not_carried();
  RankScaling const scaling = world_->scaling(0);
  if (scaling.tells_max_norm && std::ranges::find(lost, "clip") == lost.end())
    walk_.put_in_force(scaling.max_norm);
}

void PeerRun::refuse(Primitive const& load, std::vector<RankOutcome> const& outcomes, bool holds) {
  int const rank = first_failure(outcomes);
  RankOutcome const& outcome = outcomes[static_cast<std::size_t>(rank)];
  bool const differs = outcome.type == "incompatible_checkpoint";
  end_.failure = EngineFailure{.reason = differs ? outcome.type : "damaged_checkpoint",
                               .rank = rank,
                               .operation = load.entry,
                               .message = outcome.text,
                               .thrown = outcome.thrown};
  go_on_ = false;
  if (!holds) world_.reset();
  if (world_) world_->look_anew();
  observer_.refused(load, *end_.failure, world_.get());
}

bool PeerRun::open(resolved::Load const* load, int entry) {
  setting_ = task_.setting(load != nullptr ? load->setting : 0);
  std::uint64_t const seed_of_values = load != nullptr ? task_.seed ^ other_values : task_.seed;
  bool const anew = load != nullptr && load->anew && capabilities_.loads_anew;
  parameters_ = parameter_specs(setting_);
  auto const initial = room_.path() / "initial.safetensors";
  write_whole(initial, parameters_, initial_values(parameters_, seed_of_values));
  world_ = std::make_unique<PeerWorld>(
      client_, PeerWorldParts{.parameters = parameters_,
                              .groups = named_groups(task_.scenario),
                              .mesh = mesh_of(setting_.world),
                              .arithmetic = capabilities_.arithmetic,
                              .directory = room_.path(),
                              .files = files_,
                              .refuses_damage = always_refused(capabilities_)});
  auto const reply =
      ask("open",
          requests::open({.setting = setting_,
                          .scenario = task_.scenario,
                          .clip = walk_.clip(),
                          .parameters = parameters_,
                          .options = all_options(capabilities_, task_.scenario.engine),
                          .anew = anew,
                          .initial = initial}),
          entry);
  if (!reply) return false;
  world_->step_by(replies::arithmetic_of(*reply, capabilities_.arithmetic,
                                         replies::needs_bits(setting_.precision)));
  world_->look_anew();
  fold();
  return true;
}

std::optional<PeerReply> PeerRun::ask(std::string_view verb, Json fields, int entry) {
  int const ranks = world_->rank_count();
  PeerReply reply = client_.request(verb, std::move(fields));
  if (verb == "close") return reply;
  auto const outcomes = replies::outcomes_of(reply, ranks);
  if (first_failure(outcomes) < 0) return reply;
  fail(verb, outcomes, entry);
  return std::nullopt;
}

void PeerRun::fail(std::string_view verb, std::vector<RankOutcome> const& outcomes, int entry) {
  int const rank = first_failure(outcomes);
  RankOutcome const& outcome = outcomes[static_cast<std::size_t>(rank)];
  world_.reset();
  go_on_ = false;
  Call const call{.verb = std::string(verb), .ending = outcome.ending, .status = outcome.status};
  if (outcome.kind == RankOutcome::Kind::timed_out)
    end_.violations.push_back({.law = Law::order_deadlock,
                               .breach = Breach::no_answer,
                               .operation = entry,
                               .rank = rank,
                               .subject = call});
  end_.failure = EngineFailure{.rank = rank,
                               .operation = entry,
                               .call = call,
                               .message = outcome.text,
                               .thrown = outcome.thrown};
}

void PeerRun::show(Primitive const& operation) {
  fold();
  try {
    go_on_ = observer_.after(operation, *world_);
  } catch (FinishFailed const& failed) {
    fail("finish", failed.outcomes, failed.save);
  }
}

void PeerRun::fold() {
  end_.digest = (end_.digest ^ world_->fold()) * fold_factor;
}

}  // namespace adamant::scenarios
