// Tracks of laws as what tasks return.
#pragma once

#include "infer/law_errors.hpp"
#include "paper/record.hpp"

namespace mckean {

constexpr auto record_of(const LawTrack*) { return record("law", &LawTrack::mean, &LawTrack::variance); }
constexpr auto record_of(const LawPairTrack*) { return record("two laws", &LawPairTrack::fine, &LawPairTrack::coarse); }
}  // namespace mckean
