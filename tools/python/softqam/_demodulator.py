# SPDX-License-Identifier: MIT
"""demodulate() and Demodulator; gold_sequence(), the scrambling sequence of 3GPP TS 38.211 clause 5.2.1."""
from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Generic, Literal, overload

import numpy as np

from softqam import _arrays, _codeword, _core, _gpu, _names
from softqam._names import ArrayT, Backend, Modulation, NoiseForm, Output, ScalarT, TensorT, integer, real, shown
from softqam._statistics import Statistics

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

    from softqam._codeword import Codeword
    from softqam._names import Call, NewCall, Settings, SettingsAndCall, SettingsAndNewCall, SettingsAndPlace


@functools.lru_cache(maxsize=None)
def _context(backend: int, threads: int, device: int | None) -> _core.Context | None:
    """Returns a context; None for the one that the library shares, which has the defaults."""
    if backend == _names.BACKENDS["auto"]:
        try:
            return _context(_names.BACKENDS["cuda"], threads, device)
        except RuntimeError:
            return _context(_names.BACKENDS["cpu"], threads, None)
    if (backend, threads, device) == (_names.BACKENDS["cpu"], 0, None):
        return None
    return _core.Context(backend, threads, -1 if device is None else device)


def _positive(name: str, value: Any) -> float:
    """Checks a positive number for the library; None gives 0, its default."""
    if value is None:
        return 0.0
    number = real(name, value)
    if not 2.0**-126 <= number < 3e38:
        raise ValueError(f"{name} is {shown(value)}, not positive and finite in binary32")
    return number


def _make_core(modulation: str, output: str, sign: int, llr_scale: float | None, llr_limit: int | None, input_scale: float | str | None,
               noise_form: str, noise_floor: float | None, backend: str, threads: int, device: int | None) -> _core.Demodulator:  # fmt: skip
    """Checks the settings, and makes the core's demodulator of them."""
    place = _names.number(_names.BACKENDS, "backend", backend)
    gpu = None if device is None else integer("device", device, 0, 2**31 - 1)
    if gpu is not None and place == _names.BACKENDS["cpu"]:
        raise ValueError(f"device is {device!r}: the backend 'cpu' uses no GPU")
    kind, bit = _names.number(_names.OUTPUTS, "output", output), integer("sign", sign, 0, 1)
    limit = 0 if llr_limit is None else integer("llr_limit", llr_limit, 1, 2**31 - 1)
    scale = None if isinstance(input_scale, str) and input_scale == "auto" else input_scale
    name = output.lower()
    # The LLR of a bit that is known to be 0. To a decoder 1000 nats are as good as infinity, and sums of them stay finite.
    certain_zero = (limit or _names.LLR_LIMITS[name]) if name in _names.LLR_SCALES else 1000
    return _core.Demodulator(
        _context(place, integer("threads", threads, 0, 1024), gpu),
        _names.MODULATIONS[_names.modulation(modulation)],
        kind,
        bit,
        _positive("llr_scale", llr_scale),
        limit,
        _positive("input_scale", scale),
        _names.number(_names.NOISE_FORMS, "noise_form", noise_form),
        _positive("noise_floor", noise_floor),
        np.dtype(_names.OUTPUT_DTYPES.get(name, "float32")),
        -certain_zero if bit else certain_zero,
    )


# Arguments of these types go to the core unchecked.
_ndarray = np.ndarray
_PLAIN: tuple[type, ...] = (np.ndarray, type(None), float, int, np.float64, np.float32)
_ZERO = 0  # small integers are one object each
_NO_MORE: Any = object()  # default of `_`, which ends the arguments by position


def _by_name(function: Any) -> Any:
    """Makes the signature show the arguments after `_` as keyword-only. They are not: for those Python looks up each default by name, which
    takes longer. Instead the function refuses whatever is passed as `_`."""
    parameters = list(inspect.signature(function).parameters.values())
    n = [parameter.name for parameter in parameters].index("_")
    named = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters[n + 1 :]]
    function.__signature__ = inspect.Signature([*parameters[:n], *named])
    return function


def _address_of(statistics: Any, symbols: Any) -> int:
    """Returns the address of the counts; 0 without statistics."""
    if statistics is None:
        return 0
    if not isinstance(statistics, Statistics) or _gpu.device_of(symbols) is not None:
        raise TypeError(f"statistics is {type(statistics).__name__}: it takes softqam.Statistics(), for arrays in host memory")
    return statistics._address()


_SETTINGS = """
    modulation   "bpsk", "pi2-bpsk" or "pi/2-bpsk", "qpsk", "16qam", "64qam", "256qam" or "1024qam" (3GPP TS 38.211 clause
                 5.1), in upper or lower case.
    output       "s8", "s16": LLRs in steps of 1/llr_scale nat, int8 and int16; "f16", "f32": LLRs in nats, float16 and
                 float32; "hard": bits, int8; "u8": soft bits 0 .. 255 of 256QAM for liquid-dsp's users, uint8. The last two
                 need no noise variance.
    sign         the bit that a positive LLR means: 0 as in MATLAB, OCUDU and OAI; 1 as in Sionna.
    llr_scale    steps per nat. "s8": 2^-10 to 2^20; None is 6. "s16": 2^-10 to 2^14; None is 64.
    llr_limit    largest magnitude. "s8": 1 to 127; "s16": 1 to 32767; "f16": 1 to 65504, a binary16 number.
                 Sums in soft buffers are limited, too. None is the largest.
    input_scale  factor that brings symbols to unit mean energy. None is 1, for int16 1/8192, for int8 1/64. "auto":
                 the one that gives the symbols of a call, in host memory and without gain, the energy 1 + N0.
    noise_form   "n0": noise_var is the variance N0 of the complex noise; "inverse": it is 1/N0.
    noise_floor  least N0, up to 2^40: smaller values, also 0 and negative ones, count as that. Equalisers in single precision
                 write these for their best elements. None: 0 and negative values make erasures.
"""
_ARGUMENTS = """
    symbols       [..., n] complex64 or complex128; or [..., n, 2] float32, float16, int16 or int8, I and Q; or [..., n]
                  with two such fields. Any strides. Each row is a codeword, or a part of one.
    noise_var     N0, or 1/N0, for symbols of unit mean energy: a positive, finite number, or an array that broadcasts to
                  [..., n], in which other values make erasures. Not with output "u8".
    gain          None, or g > 0 of symbols z = g x + n, which are not divided by the channel: a number or an array,
                  as noise_var. N0 is the variance of n, not of the noise at the antenna. Matched filter: z = h* y,
                  g = |h|^2, N0 = |h|^2 times the noise variance of y. Biased MMSE: g = b, N0 = b (1 - b).
    c_init        descrambles: start of the scrambling sequence, 0 to 2^31 - 1; a number, or an array that broadcasts
                  to [...], a codeword each.
    first_symbol  position of symbols[..., 0] in its codeword, all layers together: 0 to 2^59 - 1.
    scrambling_offset
                  symbols that the scrambling sequence and the parity of pi/2-BPSK count before that, such as those of UCI
                  on PUSCH, all layers together: 0 to 2^59 - 1.
    layers        1 to 4: symbols is [..., layers, n], the layers of one codeword; noise_var and gain broadcast to that.
    planes        symbols of a code block, all layers together: its LLRs come as all b0, all b1, .. The last block
                  may be shorter.
    codeword      from ldpc_codeword(): the LLRs go to an LDPC decoder's soft buffers, de-interleaved, rate recovered
                  and, with combine, added. symbols is [..., layers, n] if the codeword has several layers: all of
                  it, or from first_symbol on, such as an OFDM symbol.
    soft_buffers  receives them: [..., n_code_blocks, n_values] of the output's dtype, n_values the larger of n_cb and
                  n_fill, a code block's values side by side, rows in C order at any distance; or a list of an
                  [n_values] array for each code block, None to drop its LLRs. None makes new ones of zeros.
    combine       False: new data, which overwrites the soft buffers of the code blocks transmitted: LLRs, fillers,
                  and 0 where none was sent. True: a retransmission, which is added to what is in soft_buffers, up
                  to +-llr_limit or the largest finite value; fillers and what is beyond the limit stay.
    statistics    None, or a Statistics that counts what this call sees. Host memory only.
    out           receives the LLRs: C-contiguous, of the output's dtype and shape, apart from the inputs. Not with "hard".
    stream        GPU only: the CUDA stream to work on, a number or an object of CuPy, PyTorch or cuda.core. None
                  is the current one of the array's library.

    Returns [..., n * bits_per_symbol], or [..., layers * n * bits_per_symbol], of the output's dtype, b0 of the
    first symbol first: `out`, or a new array; with codeword, soft_buffers, or new ones. A symbol that is not finite,
    or without a valid noise variance or gain, gives 0 (127 with "u8").

    A PyTorch tensor gives a tensor. Arrays of CuPy and PyTorch on a GPU are demodulated where they lie, and an array of
    the same library comes back before the GPU has finished, as it does from their own functions: README.md has the
    rules.

    TypeError and ValueError name the argument, its dtype and its shape. The GIL is released while the library
    works.
"""


class Demodulator(Generic[ScalarT]):
    __doc__ = f"""Keeps settings, and demodulates with them. Several threads may call one Demodulator at once.
{_SETTINGS}    backend      for NumPy arrays: "cpu"; "cuda"; "auto": "cuda" if the GPU can be used when the Demodulator is made,
                 else "cpu". Arrays on a GPU are demodulated there whatever the backend is.
    threads      CPU threads of a call, this one included; 0 is one for each CPU.
    device       number of the GPU that works on NumPy arrays; None is the current one.

    The settings can be read, as modulation, output, sign, llr_scale, llr_limit, and not be set. A Demodulator can be
    copied and pickled.

    Raises ValueError if a setting is wrong or not supported, RuntimeError if there is no such backend.
    """

    _core: _core.Demodulator
    _settings: dict[str, Any]
    _is_special: bool  # calls do more than to call the core

    # fmt: off
    @overload
    def __init__(self: Demodulator[np.int8], modulation: Modulation = "256qam", *, output: Literal["s8", "hard"] = "s8",
                 **settings: Unpack[SettingsAndPlace]) -> None: ...
    @overload
    def __init__(self: Demodulator[np.int16], modulation: Modulation = "256qam", *, output: Literal["s16"],
                 **settings: Unpack[SettingsAndPlace]) -> None: ...
    @overload
    def __init__(self: Demodulator[np.float16], modulation: Modulation = "256qam", *, output: Literal["f16"],
                 **settings: Unpack[SettingsAndPlace]) -> None: ...
    @overload
    def __init__(self: Demodulator[np.float32], modulation: Modulation = "256qam", *, output: Literal["f32"],
                 **settings: Unpack[SettingsAndPlace]) -> None: ...
    @overload
    def __init__(self: Demodulator[np.uint8], modulation: Modulation = "256qam", *, output: Literal["u8"],
                 **settings: Unpack[SettingsAndPlace]) -> None: ...
    @overload
    def __init__(self, modulation: Modulation = "256qam", *, output: Output = "s8", **settings: Unpack[SettingsAndPlace]) -> None: ...
    def __init__(self, modulation: Modulation = "256qam", *, output: Output = "s8", sign: Literal[0, 1] = 0,
                 llr_scale: float | None = None, llr_limit: int | None = None, input_scale: float | Literal["auto"] | None = None,
                 noise_form: NoiseForm = "n0", noise_floor: float | None = None, backend: Backend = "cpu", threads: int = 0,
                 device: int | None = None) -> None:
        # fmt: on
        settings = {"modulation": modulation, "output": output, "sign": sign, "llr_scale": llr_scale, "llr_limit": llr_limit,
                    "input_scale": input_scale, "noise_form": noise_form, "noise_floor": noise_floor, "backend": backend,
                    "threads": threads, "device": device}  # fmt: skip
        self.__setstate__({"_settings": settings})

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_core", "_is_special")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        settings = state["_settings"]
        core = _make_core(**settings)
        is_special = settings["output"].lower() == "hard" or settings["input_scale"] == "auto"
        self.__dict__.update(state, _core=core, _is_special=is_special)

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse(name, "set")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse(name, "deleted")
        super().__delattr__(name)

    def _refuse(self, name: str, what: str) -> None:
        """Raises, except for attributes that a derived class has added."""
        if type(self) is Demodulator or hasattr(Demodulator, name) or name in ("_core", "_settings"):
            raise AttributeError(f"{name} cannot be {what}: a Demodulator keeps its settings, make another one")

    @property
    def modulation(self) -> str:
        return _names.modulation(self._settings["modulation"])

    @property
    def output(self) -> str:
        return str(self._settings["output"]).lower()

    @property
    def bits_per_symbol(self) -> int:
        return _names.bits_per_symbol(self.modulation)

    @property
    def sign(self) -> int:
        """The bit that a positive LLR means."""
        return int(self._settings["sign"])

    @property
    def llr_scale(self) -> float | None:
        """Steps per nat; None if the output is not in steps."""
        scale = self._settings["llr_scale"]
        return _names.LLR_SCALES.get(self.output) if scale is None else float(scale)

    @property
    def llr_limit(self) -> int | None:
        """The largest magnitude; None if there is none."""
        limit = self._settings["llr_limit"]
        return _names.LLR_LIMITS.get(self.output) if limit is None else int(limit)

    @property
    def backend(self) -> str:
        """The backend that works on NumPy arrays: "cpu" or "cuda"."""
        return self._core.backend

    @property
    def backend_detail(self) -> str:
        """The backend's processor and settings in one line, for people to read."""
        return self._core.backend_detail

    def __repr__(self) -> str:
        defaults = Demodulator.__init__.__kwdefaults__ or {}
        changed = [f", {name}={value!r}" for name, value in self._settings.items() if value != defaults.get(name, value)]
        return f"softqam.Demodulator({self.modulation!r}{''.join(changed)})"

    # The overloads say that the output is an array of the type of soft_buffers or out, else of the type of symbols.
    # fmt: off
    @overload
    def __call__(self, symbols: TensorT, noise_var: Any = None, **options: Unpack[NewCall]) -> TensorT: ...
    @overload
    def __call__(self, symbols: npt.ArrayLike, noise_var: Any = None, **options: Unpack[NewCall]) -> npt.NDArray[ScalarT]: ...
    @overload
    def __call__(self, symbols: Any, noise_var: Any = None, *, planes: int | None = None, out: ArrayT,
                 **options: Unpack[Call]) -> ArrayT: ...
    @overload
    def __call__(self, symbols: Any, noise_var: Any = None, *, codeword: Codeword, soft_buffers: ArrayT, combine: bool = False,
                 **options: Unpack[Call]) -> ArrayT: ...
    @_by_name
    def __call__(self, symbols: Any, noise_var: Any = None, _: Any = _NO_MORE, gain: Any = None, c_init: npt.ArrayLike | None = None,
                 first_symbol: int = 0, scrambling_offset: int = 0, layers: int | None = None, planes: int | None = None,
                 codeword: Codeword | None = None, soft_buffers: Any = None, combine: bool = False,
                 statistics: Statistics | None = None, out: Any = None, stream: Any = None) -> Any:
        # fmt: on
        if _ is not _NO_MORE:
            raise TypeError(f"noise_var is followed by {shown(_)}, which takes its name")
        core = more = None
        if codeword is not None or soft_buffers is not None or combine is not False:
            core = _codeword.check_call(codeword, soft_buffers, combine, self.modulation, planes, out)
            out = soft_buffers
        if scrambling_offset is not _ZERO or statistics is not None or self._is_special:
            more = scrambling_offset, self._scale_of(symbols, noise_var, gain), None, _address_of(statistics, symbols)
            if self.output == "hard":
                if out is not None or core is not None:
                    raise ValueError(f"{'out' if core is None else 'codeword'} is given, which output \"hard\" does not take")
                noise_var = 1.0 if noise_var is None else noise_var
                options: _gpu.Options = (c_init, first_symbol, layers, planes, core, combine, more)
                return _arrays.bits_of(self._call(symbols, noise_var, gain, options, out, stream), self.sign)
        options = (c_init, first_symbol, layers, planes, core, combine, more)
        if type(symbols) is _ndarray and stream is None:  # the first case of _call(), without its call
            if type(noise_var) in _PLAIN and (gain is None or type(gain) in _PLAIN) and type(out) in _PLAIN:
                return self._core.host(symbols, noise_var, gain, options, out)
        return self._call(symbols, noise_var, gain, options, out, stream)

    def _scale_of(self, symbols: Any, noise_var: Any, gain: Any) -> float:
        """Returns the input_scale of a call, 0 unless it depends on the symbols."""
        if self._settings["input_scale"] != "auto":
            return 0.0
        return _gpu.scale_of(symbols, noise_var, gain, self._settings["noise_form"].lower() == "inverse")

    def _call(self, symbols: Any, noise_var: Any, gain: Any, options: _gpu.Options, out: Any, stream: Any) -> Any:
        plain = type(noise_var) in _PLAIN and (gain is None or type(gain) in _PLAIN) and type(out) in _PLAIN
        if type(symbols) is _ndarray and plain and stream is None:
            return self._core.host(symbols, noise_var, gain, options, out)
        library = _gpu.in_c.get(type(symbols))
        if library is not None and options[4] is None and stream is None:
            result = self._core.of_library(library, symbols, noise_var, gain, options, out)
            if result is not None:
                return result
        if _gpu.device_of(symbols) is not None:
            return _gpu.demodulate(self._core, self.output, symbols, noise_var, gain, options, out, stream)
        if stream is not None:
            raise ValueError("stream is given, which only arrays on a GPU take")
        return _gpu.demodulate_on_host(self._core, symbols, noise_var, gain, options, out)

    def joint(self, z: Any, gram: Any, noise_var: Any = None, *, layer: int | None = None, partner_modulation: Modulation | None = None,
              c_init: npt.ArrayLike | None = None, first_symbol: int = 0, scrambling_offset: int = 0, planes: int | None = None,
              codeword: Codeword | None = None, soft_buffers: Any = None, combine: bool = False,
              statistics: Statistics | None = None, out: Any = None, stream: Any = None) -> Any:  # fmt: skip
        """Calls demodulate_joint() with the settings of this Demodulator, without input_scale."""
        core, wanted, partner = None, -1, 0
        for name in ("u8", "hard"):
            if self.output == name:
                raise ValueError(f'output is "{name}", which two layers jointly do not have')
        if self._settings["input_scale"] is not None:
            raise ValueError("input_scale is given, which z and gram do not take: their units are the caller's")
        if self.bits_per_symbol == 1:
            raise ValueError(f"modulation is {self.modulation}: two layers jointly take qpsk to 1024qam")
        if layer is not None:
            wanted = integer("layer", layer, 0, 1)
        if partner_modulation is not None:
            partner = _names.MODULATIONS[_names.modulation(partner_modulation, "partner_modulation")]
            if wanted < 0 or _names.bits_per_symbol(partner_modulation) == 1:
                raise ValueError(f"partner_modulation is {partner_modulation}: it takes qpsk to 1024qam, and the wanted layer")
        if codeword is not None or soft_buffers is not None or combine is not False:
            core = _codeword.check_call(codeword, soft_buffers, combine, self.modulation, planes, out)
            out = soft_buffers
        options = (c_init, first_symbol, None, planes, core, combine, (scrambling_offset, 0.0, (wanted, partner), _address_of(statistics, z)))
        if _gpu.device_of(z) is not None:
            return self._call(z, noise_var, gram, options, out, stream)
        symbols, matrices, noise = _gpu.joint_on_host(z, gram, noise_var)
        result = self._call(symbols, noise, matrices, options, out, stream)
        return result if out is not None else _gpu.as_of(z, result)

    __call__.__doc__ = f"Returns LLRs, bits or soft bits of symbols.\n{_ARGUMENTS}"


_call: Any = Demodulator.__call__  # by position, too


@functools.lru_cache(maxsize=64, typed=True)
def _cached(modulation: Any, output: Any, sign: Any, llr_scale: Any, llr_limit: Any, input_scale: Any, noise_form: Any, noise_floor: Any) -> Any:
    """Keeps Demodulators. Its arguments are by position, which a cache looks up fastest."""
    return Demodulator(modulation, output=output, sign=sign, llr_scale=llr_scale, llr_limit=llr_limit, input_scale=input_scale,
                       noise_form=noise_form, noise_floor=noise_floor)  # fmt: skip


def _kept(*settings: Any) -> Any:
    """Returns the kept Demodulator of these settings. Raises an error that names the argument if one is unhashable, such as a list."""
    try:
        return _cached(*settings)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        return _cached.__wrapped__(*settings)


# fmt: off
@overload
def demodulate(symbols: TensorT, modulation: Modulation = "256qam", noise_var: Any = None, *, output: Output = "s8",
               **options: Unpack[SettingsAndNewCall]) -> TensorT: ...
@overload
def demodulate(symbols: npt.ArrayLike, modulation: Modulation = "256qam", noise_var: Any = None, *, output: Literal["s8", "hard"] = "s8",
               **options: Unpack[SettingsAndNewCall]) -> npt.NDArray[np.int8]: ...
@overload
def demodulate(symbols: npt.ArrayLike, modulation: Modulation = "256qam", noise_var: Any = None, *, output: Literal["s16"],
               **options: Unpack[SettingsAndNewCall]) -> npt.NDArray[np.int16]: ...
@overload
def demodulate(symbols: npt.ArrayLike, modulation: Modulation = "256qam", noise_var: Any = None, *, output: Literal["f16"],
               **options: Unpack[SettingsAndNewCall]) -> npt.NDArray[np.float16]: ...
@overload
def demodulate(symbols: npt.ArrayLike, modulation: Modulation = "256qam", noise_var: Any = None, *, output: Literal["f32"],
               **options: Unpack[SettingsAndNewCall]) -> npt.NDArray[np.float32]: ...
@overload
def demodulate(symbols: npt.ArrayLike, modulation: Modulation = "256qam", noise_var: Any = None, *, output: Literal["u8"],
               **options: Unpack[SettingsAndNewCall]) -> npt.NDArray[np.uint8]: ...
@overload
def demodulate(symbols: npt.ArrayLike, modulation: Modulation = "256qam", noise_var: Any = None, *, output: Output = "s8",
               **options: Unpack[SettingsAndNewCall]) -> npt.NDArray[Any]: ...
@overload
def demodulate(symbols: Any, modulation: Modulation = "256qam", noise_var: Any = None, *, output: Output = "s8",
               planes: int | None = None, out: ArrayT, **options: Unpack[SettingsAndCall]) -> ArrayT: ...
@overload
def demodulate(symbols: Any, modulation: Modulation = "256qam", noise_var: Any = None, *, output: Output = "s8", codeword: Codeword,
               soft_buffers: ArrayT, combine: bool = False, **options: Unpack[SettingsAndCall]) -> ArrayT: ...
@_by_name
def demodulate(symbols: Any, modulation: Modulation = "256qam", noise_var: Any = None, _: Any = _NO_MORE,
               output: Output = "s8", sign: Literal[0, 1] = 0, llr_scale: float | None = None, llr_limit: int | None = None,
               input_scale: float | Literal["auto"] | None = None, noise_form: NoiseForm = "n0", noise_floor: float | None = None,
               gain: Any = None, c_init: npt.ArrayLike | None = None, first_symbol: int = 0, scrambling_offset: int = 0, layers: int | None = None,
               planes: int | None = None, codeword: Codeword | None = None, soft_buffers: Any = None, combine: bool = False,
               statistics: Statistics | None = None, out: Any = None, stream: Any = None) -> Any:
    # fmt: on
    demodulator = _kept(modulation, output, sign, llr_scale, llr_limit, input_scale, noise_form, noise_floor)
    return _call(demodulator, symbols, noise_var, _, gain, c_init, first_symbol, scrambling_offset, layers, planes, codeword, soft_buffers,
                 combine, statistics, out, stream)  # fmt: skip


demodulate.__doc__ = f"""Returns LLRs, bits or soft bits of symbols: [..., n] to [..., n * bits per symbol].

        >>> llrs = softqam.demodulate(symbols, "256qam", noise_var=0.001)

    A Demodulator is kept for the next call with the same settings.
{_ARGUMENTS[:_ARGUMENTS.index("    gain ")]}{_SETTINGS[1:]}{_ARGUMENTS[_ARGUMENTS.index("    gain "):]}"""


def demodulate_joint(z: Any, gram: Any, noise_var: Any = None, modulation: Modulation = "256qam", *, layer: int | None = None,
                     partner_modulation: Modulation | None = None, output: Output = "s8", sign: Literal[0, 1] = 0,
                     llr_scale: float | None = None, llr_limit: int | None = None, noise_form: NoiseForm = "n0",
                     noise_floor: float | None = None, c_init: npt.ArrayLike | None = None, first_symbol: int = 0, scrambling_offset: int = 0, planes: int | None = None,
                     codeword: Codeword | None = None, soft_buffers: Any = None, combine: bool = False,
                     statistics: Statistics | None = None, out: Any = None, stream: Any = None) -> Any:  # fmt: skip
    """Demaps two layers that share resource elements, by exact joint max-log instead of an equaliser:
    LLR(b of layer e) = (min over the points with b = 1 of |y - H x|^2 - min over those with b = 0) / noise_var.

        >>> z = np.einsum("...ae,...a->...e", h.conj(), y)          # y [..., n, antennas], h [..., n, antennas, 2]
        >>> gram = np.einsum("...ae,...af->...ef", h.conj(), h)
        >>> llrs = softqam.demodulate_joint(z, gram, noise_var, "64qam")

    z                   [..., n, 2] complex: H^H y, what matched filters give for the two layers of n elements.
    gram                [..., n, 2, 2] complex64, Hermitian: H^H H. In host memory it also broadcasts to that, and may be complex128.
    noise_var           variance of the complex noise at each antenna: a number, or an array that broadcasts to [..., n]. Whiten noise
                        that is not white: with its covariance S = L L^H, use L^-1 y and L^-1 H instead of y and H, and a
                        noise_var of 1.
    layer               None: the layers are those of one codeword. 0 or 1: only that layer's LLRs are wanted; the other one is another
                        user's, or another codeword's.
    partner_modulation  of the other layer, with layer; None: the same.

    All other arguments are those of demodulate(). Returns LLRs [..., 2 * n * bits_per_symbol], by element, then layer; with layer
    [..., n * bits_per_symbol]; with codeword its soft buffers. LLRs are 0 for an element with a number that is not finite, or a
    gain or noise variance that is not positive.
    """
    return _kept(modulation, output, sign, llr_scale, llr_limit, None, noise_form, noise_floor).joint(
        z, gram, noise_var, layer=layer, partner_modulation=partner_modulation, c_init=c_init, first_symbol=first_symbol,
        scrambling_offset=scrambling_offset, planes=planes, codeword=codeword, soft_buffers=soft_buffers, combine=combine,
        statistics=statistics, out=out, stream=stream)  # fmt: skip


def gold_sequence(c_init: int, n: int, *, first: int = 0, packed: bool = False) -> npt.NDArray[np.uint8]:
    """Returns bits c(first) to c(first + n - 1) of the scrambling sequence of c_init.

    c_init  0 to 2^31 - 1.
    n       number of bits, 0 to 2^60.
    first   number of the first bit; the last one's is below 2^64. Any place costs the same.
    packed  False: one bit a byte; True: eight, the first one lowest, and zeros after the last one.

    Returns [n] uint8, or [(n + 7) // 8].
    """
    c_init, first, n = integer("c_init", c_init, 0, 2**31 - 1), integer("first", first, 0, 2**64 - 1), integer("n", n, 0, 2**60)
    bits = np.empty((n + 7) // 8, np.uint8)
    _core.gold_sequence(c_init, first, n, bits)
    return bits if packed else np.unpackbits(bits, count=n, bitorder="little")
