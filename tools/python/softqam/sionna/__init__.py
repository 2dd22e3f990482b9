# SPDX-License-Identifier: MIT
"""softqam inside Sionna 2, which is on PyTorch: `from softqam.sionna import Demapper`, `PUSCHReceiver`.

Demapper          in place of sionna.phy.mapping.Demapper
MaximumLikelihoodDetector
                  in place of sionna.phy.ofdm.MaximumLikelihoodDetector: two streams jointly
PUSCHReceiver     in place of sionna.phy.nr.PUSCHReceiver
TBDemapper        from equalised symbols to the LLRs of code blocks: Demapper, LayerDemapper, Descrambler and rate recovery
TBDecoder         sionna.phy.nr.TBDecoder from there on
"""
# mypy: ignore-errors
from softqam.sionna._demapper import Demapper
from softqam.sionna._detector import MaximumLikelihoodDetector
from softqam.sionna._pusch import PUSCHReceiver, TBDecoder, TBDemapper

__all__ = ["Demapper", "MaximumLikelihoodDetector", "PUSCHReceiver", "TBDecoder", "TBDemapper"]
