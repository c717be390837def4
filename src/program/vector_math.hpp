// Elementary functions on the vectors of simd.hpp.
#pragma once

#include "program/vector_exp.hpp"
#include "program/vector_trig.hpp"
