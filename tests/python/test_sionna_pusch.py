# SPDX-License-Identifier: MIT
"""TBDemapper, TBDecoder and PUSCHReceiver of softqam.sionna beside Sionna's own: LLRs before its LDPC decoder, blocks lost
after it, retransmissions, whole receivers."""
import inspect
import pickle
from unittest import mock

import numpy as np
import pytest
from test_sionna import MODULATIONS, assert_near, mapping, seed, torch  # noqa: F401

nr = pytest.importorskip("sionna.phy.nr")
from sionna.phy import mimo, ofdm  # noqa: E402
from sionna.phy.fec import ldpc  # noqa: E402

from softqam.sionna import MaximumLikelihoodDetector, PUSCHReceiver, TBDecoder, TBDemapper  # noqa: E402

# Bits of a transport block, about how many are sent; base graph, code blocks, all of them with fillers.
SIZES = {"small": (96, 240, 2, 1), "bg2": (2024, 4800, 2, 1), "bg1": (6144, 10800, 1, 1), "blocks": (20496, 40800, 1, 3)}
each_number_of_layers = pytest.mark.parametrize("n_layers", [1, 2, 4])


def make_encoder(bits, n_layers, size="small", **options):
    """The code blocks of "blocks" have two lengths."""
    tb_size, n_sent, base_graph, n_code_blocks = SIZES[size]
    n_symbols = -(-n_sent // (bits * n_layers))
    n_symbols += (1 - n_symbols) % 3 if size == "blocks" else 0
    identities = {"n_rnti": 4711, "n_id": 42, **options}
    encoder = nr.TBEncoder(tb_size, n_symbols * n_layers * bits, 0.5, bits, num_layers=n_layers, **identities)
    assert (encoder.tb_size, encoder.num_cbs, encoder.ldpc_encoder._bg) == (tb_size, n_code_blocks, f"bg{base_graph}")
    assert encoder.ldpc_encoder.k_filler > 0 and len(set(encoder.cw_lengths)) == (2 if size == "blocks" else 1)
    return encoder


def to_layers(coded, bits, n_layers):
    return nr.LayerMapper(n_layers)(mapping.Mapper("qam", bits)(coded))


def with_noise(symbols, n0=None):
    """Received symbols, and the noise variance of each: n0, or random ones."""
    noise_var = torch.as_tensor(n0).expand(symbols.shape) if n0 is not None else 10 ** (-2 * torch.rand(symbols.shape))
    noise = torch.view_as_complex(torch.randn(*symbols.shape, 2))
    return symbols + noise * torch.sqrt(noise_var / 2), noise_var


def receive(encoder, n_blocks, n0=None):
    """Returns what was sent, [block, transmitter, bit], and received symbols with their noise variances."""
    bits, n_layers = encoder._num_bits_per_symbol, encoder._num_layers
    sent = torch.randint(0, 2, (n_blocks, encoder.num_tx, encoder.k)).float()
    return sent, *with_noise(to_layers(encoder(sent), bits, n_layers), n0)


def demap_by_sionna(encoder, received, noise_var):
    bits = encoder._num_bits_per_symbol
    layers = mapping.Demapper("maxlog", "qam", bits)(received, noise_var)
    return nr.LayerDemapper(nr.LayerMapper(encoder._num_layers), bits)(layers)


def recovered_by_sionna(encoder, received, noise_var):
    """Returns what Sionna's TBDecoder gives its LDPC decoder, which is replaced by one that decodes nothing."""
    bits = torch.zeros(len(received), encoder.num_tx, encoder.num_cbs, encoder.ldpc_encoder.k)
    with mock.patch.object(ldpc.LDPC5GDecoder, "call", return_value=bits) as call:
        nr.TBDecoder(encoder)(demap_by_sionna(encoder, received, noise_var))
    return call.call_args.args[0]


@each_number_of_layers
@pytest.mark.parametrize("bits, size, options", [
    *((bits, size, {}) for bits in MODULATIONS for size in SIZES),
    (4, "blocks", {"n_rnti": [4711, 1, 2], "n_id": [42, 0, 1023]}),  # several transmitters
    (4, "blocks", {"use_scrambler": False}),
])  # fmt: skip
def test_values(n_layers, bits, size, options):
    encoder = make_encoder(bits, n_layers, size, **options)
    _, received, noise_var = receive(encoder, 2)
    ours, theirs = TBDemapper(encoder)(received, noise_var), recovered_by_sionna(encoder, received, noise_var)
    assert_near(ours, theirs)
    assert torch.equal(ours == 0, theirs == 0)


@each_number_of_layers
def test_shapes_and_strides(n_layers):
    encoder = make_encoder(6, n_layers)
    demapper = TBDemapper(encoder)
    _, received, noise_var = receive(encoder, 5)
    llrs = demapper(received, noise_var)
    assert llrs.shape == (5, 1, 1, encoder.ldpc_encoder.n)
    assert torch.equal(demapper(received[:, 0], noise_var[:, 0]), llrs[:, 0])
    assert torch.equal(demapper(received[0, 0], noise_var[0, 0]), llrs[0, 0])
    last = [a.permute(1, 2, 3, 0).contiguous().permute(3, 0, 1, 2) for a in (received, noise_var)]  # as equalisers give it
    assert torch.equal(demapper(*last), llrs)
    assert torch.equal(demapper(received.conj().resolve_conj().conj(), noise_var), llrs)
    for no in (0.1, torch.tensor(0.1), torch.full((received.shape[-1],), 0.1), torch.full((n_layers, 1), 0.1)):
        assert torch.equal(demapper(received, no), demapper(received, torch.full(received.shape, 0.1)))


@pytest.mark.parametrize("tb_size, padding", [(1000, 32), (850, -2)])
def test_padding(tb_size, padding):
    """The encoder pads, or cuts off."""
    encoder = nr.TBEncoder(tb_size, 2400, 0.4, 4)  # 38.214 has 1032 and 848
    assert encoder.k_padding == padding
    sent, received, noise_var = receive(encoder, 2, 0.01)
    theirs = nr.TBDecoder(encoder)(demap_by_sionna(encoder, received, noise_var))
    ours = TBDecoder(encoder)(TBDemapper(encoder)(received, noise_var))
    assert all(a.shape == b.shape and a.dtype == b.dtype and torch.equal(a, b) for a, b in zip(ours, theirs)) and ours[1].all()
    assert torch.equal(ours[0][..., : encoder.tb_size], sent[..., : encoder.tb_size]) and not ours[0][..., encoder.tb_size :].any()


def encode(encoder, blocks, rv):
    """TBEncoder after its CRCs, which knows rv 0 only: code blocks to layers."""
    bits = encoder._num_bits_per_symbol
    coded = encoder.ldpc_encoder(blocks, rv=[rv])[..., 0, :]
    pieces = []
    for r, length in enumerate(int(n) for n in encoder.cw_lengths):
        order, _ = encoder.ldpc_encoder.generate_out_int(length, bits)
        pieces.append(coded[..., r, :length][..., order])
    return to_layers(encoder.scrambler(torch.cat(pieces, -1)), bits, encoder._num_layers)


@pytest.mark.parametrize("rvs", [(0, 2), (0, 2, 3, 1), (3, 0, 0)])
@pytest.mark.parametrize("size", ["small", "blocks"])
def test_retransmissions(rvs, size, monkeypatch):
    """Soft buffers are what Sionna's LDPC5GDecoder makes of all transmissions at once."""
    encoder = make_encoder(4, 2, size)
    blocks = torch.randint(0, 2, (2, 1, encoder.num_cbs, encoder.ldpc_encoder.k)).float()
    demapper, once, buffers, transmissions = TBDemapper(encoder, harq_mode=True), TBDemapper(encoder), None, []
    for rv in rvs:
        received, noise_var = with_noise(encode(encoder, blocks, rv))
        before = None if buffers is None else buffers.clone()
        after = demapper(received, noise_var, rv=rv, soft_buffers=buffers)
        assert buffers is None or torch.equal(buffers, before)
        buffers = after
        transmissions.append(once(received, noise_var))
    seen = []
    monkeypatch.setattr(ldpc.LDPCBPDecoder, "call", lambda self, llrs, **_: seen.append(llrs) or llrs)
    ldpc.LDPC5GDecoder(encoder.ldpc_encoder, harq_mode=True)(torch.stack(transmissions, -2), rv=list(rvs))
    assert_near(buffers, seen[0].reshape(buffers.shape))
    assert torch.equal(buffers == 0, seen[0].reshape(buffers.shape) == 0)


def make_configuration(n_layers, mcs, first_port, n_rnti):
    pusch = nr.PUSCHConfig(n_rnti=n_rnti)
    pusch.carrier.n_size_grid = 1
    pusch.num_layers = pusch.num_antenna_ports = n_layers
    pusch.dmrs.dmrs_port_set = [*range(first_port, first_port + n_layers)]
    pusch.dmrs.num_cdm_groups_without_data = 2
    pusch.dmrs.additional_position = 1
    pusch.tb.mcs_index, pusch.tb.mcs_table = mcs, 2
    return pusch


@pytest.mark.parametrize("csi", ["perfect", None])
@pytest.mark.parametrize("n_layers, n_users, mcs, snr_db", [(1, 1, 3, -5), (2, 2, 9, 2), (4, 1, 22, 15)])
def test_receiver(n_layers, n_users, mcs, snr_db, csi):
    """Fading without correlation, one tap, eight antennas; every block has a noise variance of its own, over 10 dB."""
    transmitter = nr.PUSCHTransmitter([make_configuration(n_layers, mcs, n_layers * user, 7 + user) for user in range(n_users)])
    symbols, sent = transmitter(16)
    channel = torch.view_as_complex(torch.randn(16, 1, 8, n_users, n_layers, 1, 1, 2)) / np.sqrt(2)
    channel = channel.expand(*channel.shape[:5], *symbols.shape[-2:])
    n0 = 10 ** (-(snr_db + 10 * (torch.rand(16) - 0.5)) / 10)
    received = (channel * symbols[:, None, None]).sum((3, 4))
    received, _ = with_noise(received, n0[:, None, None, None, None])
    results = []
    for kind in (nr.PUSCHReceiver, PUSCHReceiver):
        receiver = kind(transmitter, csi, return_tb_crc_status=True)
        results.append(receiver(received, n0, *([channel] if csi else [])))
    (theirs, theirs_valid), (ours, ours_valid) = results
    lost = (theirs != sent).any(-1)
    assert torch.equal((ours != sent).any(-1), lost) and torch.equal(ours_valid, theirs_valid)
    assert 0.1 < lost.float().mean() < 0.9


def test_arguments_of_sionnas_receiver():
    """Every detector, equaliser and decoder of Sionna's is taken where Sionna has it; a receiver can be pickled."""
    assert inspect.signature(PUSCHReceiver) == inspect.signature(nr.PUSCHReceiver)
    of_decoders = [inspect.signature(kind).parameters for kind in (TBDecoder, nr.TBDecoder)]
    assert [(p.name, p.default) for p in of_decoders[0].values() if p.name != "harq_mode"] == [(p.name, p.default) for p in of_decoders[1].values()]
    assert of_decoders[0]["harq_mode"].kind is inspect.Parameter.KEYWORD_ONLY
    transmitter = nr.PUSCHTransmitter(make_configuration(2, 9, 0, 7))
    symbols, sent = transmitter(4)
    theirs, encoder = nr.PUSCHReceiver(transmitter), transmitter._tb_encoder
    where = theirs.resource_grid, theirs._stream_management
    linear = ofdm.LinearDetector("lmmse", "bit", "maxlog", *where, "qam", encoder._num_bits_per_symbol)
    channel = torch.view_as_complex(torch.randn(4, 1, 4, 2, 1, 1, 2))
    received, _ = with_noise((channel * symbols[:, None]).sum(3)[:, None][:, :, 0], 0.001)
    assert torch.equal(theirs(received, 0.001), sent)
    for arguments in [(), (None, linear), (None, ofdm.LMMSEEqualizer(*where)), (None, None, nr.TBDecoder(encoder)),
                      (None, ofdm.ZFEqualizer(*where), TBDecoder(encoder))]:  # fmt: skip
        assert torch.equal(PUSCHReceiver(transmitter, *arguments)(received, 0.001), sent)
    receiver = pickle.loads(pickle.dumps(PUSCHReceiver(transmitter, mimo_detector=linear)))
    assert torch.equal(receiver(received, 0.001), sent)
    receiver = pickle.loads(pickle.dumps(PUSCHReceiver(transmitter, None, None, TBDecoder(encoder))))
    assert torch.equal(receiver(received, 0.001), sent)
    with pytest.raises(TypeError, match="tb_decoder is softqam's: mimo_detector must be .* two such streams, not LinearDetector"):
        PUSCHReceiver(transmitter, None, linear, TBDecoder(encoder))
    other = MaximumLikelihoodDetector("bit", "maxlog", *where, "qam", encoder._num_bits_per_symbol + 2)
    with pytest.raises(TypeError, match="mimo_detector must be .* two such streams, not MaximumLikelihoodDetector"):
        PUSCHReceiver(transmitter, None, other, TBDecoder(encoder))
    with pytest.raises(TypeError, match="equalizer is no argument: mimo_detector"):
        PUSCHReceiver(transmitter, equalizer=None)


def detectors(n_tx, n_streams, *settings):
    """Sionna's and softqam's for a grid of 4 symbols and 12 subcarriers, and what they take, with 4 antennas."""
    grid = ofdm.ResourceGrid(4, 12, 30e3, num_tx=n_tx, num_streams_per_tx=n_streams)
    streams = mimo.StreamManagement(np.ones([1, n_tx], int), n_streams)
    channel = torch.view_as_complex(torch.randn(3, 1, 4, n_tx, n_streams, 4, 12, 2))
    inputs = torch.view_as_complex(torch.randn(3, 1, 4, 4, 12, 2)), channel, torch.rand(1) / 10, torch.rand(3, 1, 4) / 3 + 0.05
    return [kind(*settings[:2], grid, streams, *settings[2:]) for kind in (ofdm.MaximumLikelihoodDetector, MaximumLikelihoodDetector)], inputs


@pytest.mark.parametrize("n_tx, n_streams, settings", [
    *((n_tx, 2 // n_tx, ("bit", "maxlog", "qam", bits)) for n_tx in (1, 2) for bits in (2, 4, 6)), (1, 1, ("bit", "maxlog", "qam", 4)),
    (1, 2, ("bit", "app", "qam", 4)), (1, 2, ("symbol", "maxlog", "qam", 4)), (1, 2, ("bit", "maxlog", "pam", 2)),
    (1, 2, ("bit", "maxlog", "qam", 4, None, True)), (1, 2, ("bit", "maxlog", "qam", 4, None, False, "double")),
])  # fmt: skip
def test_joint_detector(n_tx, n_streams, settings):
    (theirs, ours), inputs = detectors(n_tx, n_streams, *settings)
    is_own = not isinstance(ours._detector, mimo.MaximumLikelihoodDetector)
    assert is_own == (settings[:3] == ("bit", "maxlog", "qam") and n_streams * n_tx == 2 and len(settings) == 4)
    expected, got = theirs(*inputs), (pickle.loads(pickle.dumps(ours)) if is_own else ours)(*inputs)
    torch.testing.assert_close(got, expected, rtol=2e-5, atol=2e-5 * float(expected.abs().max()))
    assert inspect.signature(MaximumLikelihoodDetector) == inspect.signature(ofdm.MaximumLikelihoodDetector)


def test_joint_detector_has_no_derivative():
    (_, ours), (y, h, err_var, no) = detectors(1, 2, "bit", "maxlog", "qam", 2)
    with pytest.raises(RuntimeError, match="has no derivative"):
        torch.func.jvp(lambda y: ours(y, h, err_var, no), (y,), (y,))
    with pytest.raises(RuntimeError, match="backward"):
        ours(y.requires_grad_(), h, err_var, no).sum().backward()


@pytest.mark.parametrize("n_users, mcs, snr_db", [(1, 3, -3), (1, 9, 8), (2, 3, -3), (2, 9, 8)])
def test_joint_receiver(n_users, mcs, snr_db):
    """Sionna's receiver loses the same blocks after either detector, in correlated channels, and fewer than after LMMSE. softqam's
    receiver in one pass gives the same LLRs for two layers of a user and for two users."""
    n_layers = 2 // n_users
    transmitter = nr.PUSCHTransmitter([make_configuration(n_layers, mcs, n_layers * user, 7 + user) for user in range(n_users)])
    symbols, sent = transmitter(60)
    channel = torch.view_as_complex(torch.randn(60, 1, 2, n_users, n_layers, 1, 1, 2)) / np.sqrt(2)
    channel = (channel + 2 * channel.mean((2, 3, 4), keepdim=True)).expand(*channel.shape[:5], *symbols.shape[-2:])
    n0 = 10 ** (-snr_db / 10)
    received, _ = with_noise((channel * symbols[:, None, None]).sum((3, 4)), n0)
    linear, encoder = nr.PUSCHReceiver(transmitter, "perfect"), transmitter._tb_encoder
    arguments = "bit", "maxlog", linear.resource_grid, linear._stream_management, "qam", transmitter._num_bits_per_symbol
    ours = MaximumLikelihoodDetector(*arguments)
    receivers = [linear, nr.PUSCHReceiver(transmitter, "perfect", ofdm.MaximumLikelihoodDetector(*arguments)),
                 PUSCHReceiver(transmitter, "perfect", ours, nr.TBDecoder(encoder)), PUSCHReceiver(transmitter, "perfect", ours, TBDecoder(encoder)),
                 pickle.loads(pickle.dumps(PUSCHReceiver(transmitter, "perfect", ours)))]  # fmt: skip
    assert receivers[2]._mimo_detector is ours and receivers[3]._mimo_detector is not ours
    lost, expected, *others = ((receiver(received, n0, channel) != sent).any(-1) for receiver in receivers)
    assert all(torch.equal(got, expected) for got in others) and 0 < expected.sum() < lost.sum()
    seen = []
    with mock.patch.object(ldpc.LDPC5GDecoder, "call", lambda _, llrs: seen.append(llrs) or llrs[..., : encoder.ldpc_encoder.k]):
        for receiver in receivers[2:]:
            receiver(received, n0, channel)
    assert torch.equal(seen[1], seen[0]) and torch.equal(seen[2], seen[0])


@pytest.mark.filterwarnings("ignore")
def test_compile():
    encoder = make_encoder(6, 2, "blocks")
    _, received, noise_var = receive(encoder, 2)
    for harq_mode in (False, True):
        demapper = TBDemapper(encoder, harq_mode=harq_mode)
        llrs = demapper(received, noise_var)
        assert torch.equal(torch.compile(demapper, fullgraph=True)(received, noise_var), llrs)
    torch.library.opcheck(torch.ops.softqam.demap_codeword.default,
                          (received, noise_var, 6, [7], [encoder.num_cbs, encoder.ldpc_encoder.n, 0, 0, 0], 8, None))  # fmt: skip


def test_wrong_calls():
    encoder = make_encoder(4, 2)
    _, received, noise_var = receive(encoder, 2)
    with pytest.raises(RuntimeError, match="has no derivative"):
        torch.func.jvp(TBDemapper(encoder), (received, noise_var), (received, noise_var))
    with pytest.raises(RuntimeError, match="backward"):
        TBDemapper(encoder)(received, noise_var.requires_grad_()).sum().backward()
    noise_var.requires_grad_(False)
    with pytest.raises(TypeError, match="encoder is TBDecoder, not Sionna's TBEncoder"):
        TBDemapper(nr.TBDecoder(encoder))
    for wrong in (received[..., 1:], received[..., :1, :], received[0, 0, 0]):
        with pytest.raises(ValueError, match=r"y has the shape \(.*\), not \[..., 2, 30\]"):
            TBDemapper(encoder)(wrong, 0.1)
    for options in ({"rv": 1}, {"soft_buffers": torch.zeros(2, 1, 1, 240)}):
        with pytest.raises(ValueError, match="rv and soft_buffers take harq_mode=True"):
            TBDemapper(encoder)(received, noise_var, **options)
    with pytest.raises(ValueError, match="rv is 4, not 0 to 3"):
        TBDemapper(encoder, harq_mode=True)(received, noise_var, rv=4)
    with pytest.raises(ValueError, match=r"llr has the shape \(2, 240, 1\), not \[..., 1, 240\]"):
        TBDecoder(encoder)(torch.zeros(2, 240, 1))
