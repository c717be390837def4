// Special functions that block programs evaluate one number at a time.
#pragma once

namespace mckean {

// log|Gamma(x)|, safe to call from several threads.
double log_gamma(double x);

// The derivative of order n of the digamma function, n = 0, 1, 2, ... To about 1e-15 relative for x > 0 (near
// the root of digamma: absolute), and for x < 0 where n is 0 or 1. NaN at the poles, for x < 0 with n > 1,
// and where n is no such number.
double polygamma(double n, double x);
}  // namespace mckean
