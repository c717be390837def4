// What a task returns: a struct whose fields are listed once, as the numbers that a TaskRunner carries and back.
//
//   struct End {
//     std::optional<double> value;
//     double work = 0;
//   };
//   constexpr auto record_of(const End*) { return record("end of an interval", &End::value, &End::work); }
//
// A row begins with a number that is derived from the names of the record and the types of its fields, so that a row of
// another kind is refused. Fields follow in their order, lengths before what varies, six bytes of text a number.
#pragma once

#include <concepts>
#include <functional>
#include <tuple>

#include "mckean/tasks.hpp"
#include "paper/record_numbers.hpp"

namespace mckean {

template <class... Member>
struct RecordFields {
  std::string_view name;
  std::tuple<Member...> members;
};
template <class... Member>
constexpr RecordFields<Member...> record(std::string_view name, Member... members) {
  return {name, {members...}};
}

template <class T>
concept DescribedRecord = requires(const T* nothing) {
  record_of(nothing).members;
};
template <class T>
concept DenseMatrix = requires(T m) {
  m.resize(m.rows(), m.cols()), m.data(), T::ColsAtCompileTime;
};
template <class T>
concept OptionalField = requires(T o) {
  o.has_value(), o.emplace();
};
template <class T>
concept ListField = requires(T l) {
  l.emplace_back(), l.reserve(1);
};

template <class T>
constexpr auto members_of() {
  return record_of(static_cast<const T*>(nullptr)).members;
}

template <class T>
constexpr std::uint32_t signature(std::uint32_t so_far) {
  if constexpr (DescribedRecord<T>) {
    so_far = mixed(so_far, record_of(static_cast<const T*>(nullptr)).name);
    const auto add = [&]<class F>(F T::*) { so_far = signature<F>(so_far); };
    std::apply([&](auto... member) { (add(member), ...); }, members_of<T>());
    return mixed(so_far, ";");
  } else if constexpr (std::same_as<T, double>) {
    return mixed(so_far, "number ");
  } else if constexpr (std::same_as<T, bool>) {
    return mixed(so_far, "flag ");
  } else if constexpr (std::same_as<T, int> || std::is_enum_v<T>) {
    return mixed(so_far, "integer ");
  } else if constexpr (std::unsigned_integral<T>) {
    return mixed(so_far, "whole ");
  } else if constexpr (std::same_as<T, std::string>) {
    return mixed(so_far, "text ");
  } else if constexpr (DenseMatrix<T>) {
    return mixed(so_far, T::ColsAtCompileTime == 1 ? "vector " : "matrix ");
  } else if constexpr (OptionalField<T>) {
    return signature<typename T::value_type>(mixed(so_far, "perhaps "));
  } else {
    static_assert(ListField<T>, "no field of a record can have this type");
    return signature<typename T::value_type>(mixed(so_far, "list "));
  }
}

template <class T>
void write_field(const T& field, std::vector<double>& to) {
  if constexpr (DescribedRecord<T>) {
    std::apply([&](auto... member) { (write_field(field.*member, to), ...); }, members_of<T>());
  } else if constexpr (std::same_as<T, double>) {
    to.push_back(field);
  } else if constexpr (std::same_as<T, bool> || std::same_as<T, int> || std::is_enum_v<T>) {
    to.push_back(static_cast<double>(field));
  } else if constexpr (std::unsigned_integral<T>) {
    write_whole(field, to);
  } else if constexpr (std::same_as<T, std::string>) {
    write_text(field, to);
  } else if constexpr (DenseMatrix<T>) {
    to.push_back(static_cast<double>(field.rows()));
    to.push_back(static_cast<double>(field.cols()));
    for (const double* at = field.data(); at != field.data() + field.size(); ++at) to.push_back(*at);
  } else if constexpr (OptionalField<T>) {
    write_field(field.has_value(), to);
    if (field) write_field(*field, to);
  } else {
    write_whole(field.size(), to);
    for (const auto& each : field) write_field(each, to);
  }
}

template <class T>
void read_field(RowReader& from, T& field) {
  if constexpr (DescribedRecord<T>) {
    std::apply([&](auto... member) { (read_field(from, field.*member), ...); }, members_of<T>());
  } else if constexpr (std::same_as<T, double>) {
    field = from.number();
  } else if constexpr (std::same_as<T, bool>) {
    field = from.flag();
  } else if constexpr (std::same_as<T, int> || std::is_enum_v<T>) {
    field = static_cast<T>(from.integer());
  } else if constexpr (std::unsigned_integral<T>) {
    field = from.whole();
  } else if constexpr (std::same_as<T, std::string>) {
    field = from.text();
  } else if constexpr (DenseMatrix<T>) {
    const auto [rows, columns] = from.shape();
    if (T::ColsAtCompileTime == 1 && columns != 1) refuse_row("a vector has several columns");
    field.resize(rows, columns);
    for (double* at = field.data(); at != field.data() + field.size(); ++at) *at = from.number();
  } else if constexpr (OptionalField<T>) {
    field.reset();
    if (from.flag()) read_field(from, field.emplace());
  } else {
    field.clear();
    const std::size_t count = from.length();
    field.reserve(count);
    for (std::size_t i = 0; i < count; ++i) read_field(from, field.emplace_back());
  }
}

template <DescribedRecord R>
std::vector<double> pack(const R& record) {
  std::vector<double> out{signature<R>(kFirstSignature)};
  write_field(record, out);
  return out;
}

// Throws RunError, which names the task, where the row is no such record.
template <DescribedRecord R>
R unpack(std::span<const double> row, const Task& task) {
  try {
    RowReader from(row);
    if (from.number() != signature<R>(kFirstSignature)) refuse_row("it is a record of another kind");
    R out;
    read_field(from, out);
    from.expect_end();
    return out;
  } catch (const BadRow& why) {
    refuse_task(task, record_of(static_cast<const R*>(nullptr)).name, why);
  }
}

// Runs tasks whose function returns a record.
template <class Function>
auto run_records(TaskRunner& runner, std::span<const Task> tasks, const Function& function) {
  using R = std::invoke_result_t<Function, std::size_t, std::stop_token>;
  const auto rows = runner.run(
      tasks, [&](std::size_t position, std::stop_token stop) { return pack(function(position, std::move(stop))); });
  std::vector<R> out;
  out.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) out.push_back(unpack<R>(rows[i], tasks[i]));
  return out;
}
}  // namespace mckean
