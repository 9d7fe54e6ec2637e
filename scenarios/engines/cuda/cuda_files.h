// The files of a run on GPUs: in this process' memory, so that a worker that dies leaves none
// behind. Nothing of it survives a crash, so a scenario cannot ask for one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "real/testing/memory_storage.h"
#include "scenarios/engines/checkpoint_files.h"

namespace adamant::scenarios {

class CudaFiles final : public CheckpointFiles {
 public:
  /// Errors: MachineLacks, see import_foreign().
  explicit CudaFiles(EngineTask const& task) : CheckpointFiles(task) { import_foreign(); }

  /// All ranks share it.
  std::shared_ptr<real::Storage> storage_of(int) override { return storage_; }

 private:
  std::vector<std::string> names_in(std::string_view directory) const override;
  std::span<std::byte const> bytes_at(std::string const& path) const override {
    return storage_->bytes_of(path);
  }
  void make_directory(std::string const& path) override { storage_->make_directory(path); }
  void overwrite(std::string const& path, std::vector<std::byte> bytes) override {
    storage_->create(path)->append(bytes);
  }
  void lose(std::string const& path) override { storage_->remove(path); }

  std::shared_ptr<real::MemoryStorage> storage_ = std::make_shared<real::MemoryStorage>();
};

}  // namespace adamant::scenarios
