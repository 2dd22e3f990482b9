// SPDX-License-Identifier: MIT
/* What all adapters for OCUDU share: a context without threads, and a demodulator for each of OCUDU's quantisers. What
 * comes later (symbols straight to soft buffers) takes them from here. */
#pragma once

#include <memory>
#include <type_traits>

#include <ocudu/ran/sch/modulation_scheme.h>
#include <softqam/softqam.h>

namespace softqam_ocudu
{

class demodulators
{
  public:
    /// Null where memory is short.
    static std::shared_ptr<const demodulators> create();

    /// Of cf32 symbols and a noise variance each, to int8 LLRs with OCUDU's scale and limit.
    const softqam_demodulator *of(ocudu::modulation_scheme mod) const
    {
        return by_bits_[static_cast<unsigned>(mod)].get();
    }

  private:
    struct destroy {
        void operator()(softqam_demodulator *demodulator) const { softqam_demodulator_destroy(demodulator); }
    };

    /// Indexed by OCUDU's numbers, which are the bits of a symbol, but for pi/2-BPSK's 0.
    std::unique_ptr<softqam_demodulator, destroy> by_bits_[ocudu::MODULATION_MAX_BITS_PER_SYMBOL + 1];
};

/// A factory of OCUDU's whose create() is what `make` gives: a unique_ptr to the interface.
template <typename interface, typename function> std::shared_ptr<interface> make_factory(function make)
{
    class factory final : public interface
    {
      public:
        explicit factory(function f) : make_(std::move(f)) {}
        std::invoke_result_t<function> create() override { return make_(); }

      private:
        function make_;
    };
    return std::make_shared<factory>(std::move(make));
}

} // namespace softqam_ocudu
