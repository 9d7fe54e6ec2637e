// The model of a script, how FSDP2 shards it, and its optimizer: what a world is made of.
#pragma once

#include <string>
#include <vector>

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

/// The classes, and where several worlds are made `start`, which returns a sharded model and its
/// optimizer.
void write_model(Draft& draft);

/// In a function of that name: joins the other ranks, makes model and optimizer.
void write_beginning(Draft& draft, World const& world, std::string const& function);

struct Argument {
  std::string name;
  std::string value;
};

/// What `start` is told of a world behind its processes: whatever worlds differ in.
std::vector<Argument> making_arguments(Plan const& plan, World const& world);

/// Of two runs with one program: what its function is told in one of them.
std::vector<Argument> program_arguments(Plan const& plan, World const& world);

/// The type of the optimizer's own weights, which is what FSDP2 shards.
NumberFormat weight_format(World const& world);

/// "torch.bfloat16"
std::string type_name(NumberFormat format);

}  // namespace adamant::scenarios::script
