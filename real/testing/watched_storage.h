// A Storage that tells somebody of everything that is asked of another one, before it happens: for
// tests that count reads, look at the order of changes, or let the disk refuse one of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/storage.h"

namespace adamant::real {

/// For one rank: nobody else is told at the same time.
class WatchedStorage final : public Storage {
 public:
  /// REQUIRES: `storage` outlives it and what it opens.
  explicit WatchedStorage(Storage& storage) : storage_(storage) {}

  /// "make a", "create a/b", "append a/b", "sync a/b", "rename a to b", "remove a",
  /// "sync_directory a". Where it throws, the change does not happen.
  std::function<void(std::string const& change)> on_change;
  /// "a/b from 64".
  std::function<void(std::string const& range)> on_read;

  bool exists(std::string const& path) override { return storage_.exists(path); }
  std::unique_ptr<InputFile> open(std::string const& path) override {
    return std::make_unique<Input>(*this, path, storage_.open(path));
  }
  std::unique_ptr<OutputFile> create(std::string const& path) override {
    tell(on_change, concat("create ", path));
    return std::make_unique<Output>(*this, path, storage_.create(path));
  }
  void rename(std::string const& from, std::string const& to) override {
    tell(on_change, concat("rename ", from, " to ", to));
    storage_.rename(from, to);
  }
  void remove(std::string const& path) override {
    tell(on_change, concat("remove ", path));
    storage_.remove(path);
  }
  std::vector<DirectoryEntry> list(std::string const& directory) override {
    return storage_.list(directory);
  }
  void make_directory(std::string const& path) override {
    tell(on_change, concat("make ", path));
    storage_.make_directory(path);
  }
  void sync_directory(std::string const& path) override {
    tell(on_change, concat("sync_directory ", path));
    storage_.sync_directory(path);
  }

 private:
  using Listener = std::function<void(std::string const&)>;

  static void tell(Listener const& listener, std::string const& what) {
    if (listener) listener(what);
  }

  class Input final : public InputFile {
   public:
    Input(WatchedStorage& storage, std::string path, std::unique_ptr<InputFile> file)
        : storage_(storage), path_(std::move(path)), file_(std::move(file)) {}
    std::uint64_t size() const override { return file_->size(); }
    void read(std::uint64_t offset, std::span<std::byte> into) override {
      tell(storage_.on_read, concat(path_, " from ", std::to_string(offset)));
      file_->read(offset, into);
    }

   private:
    WatchedStorage& storage_;
    std::string path_;
    std::unique_ptr<InputFile> file_;
  };

  class Output final : public OutputFile {
   public:
    Output(WatchedStorage& storage, std::string path, std::unique_ptr<OutputFile> file)
        : storage_(storage), path_(std::move(path)), file_(std::move(file)) {}
    void append(std::span<std::byte const> bytes) override {
      tell(storage_.on_change, concat("append ", path_));
      file_->append(bytes);
    }
    void sync() override {
      tell(storage_.on_change, concat("sync ", path_));
      file_->sync();
    }

   private:
    WatchedStorage& storage_;
    std::string path_;
    std::unique_ptr<OutputFile> file_;
  };

  Storage& storage_;
};

}  // namespace adamant::real
