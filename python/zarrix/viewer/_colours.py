"""Colour maps of 256 colours, and the wheel of optical flow: those of the front end, for terminals.

viridis and magma are those of matplotlib (CC0), turbo is by Anton Mikhailov (Apache-2.0,
Copyright 2019 Google LLC); their licences lie beside the bundle, in ``static/licenses.txt``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

__all__ = ["MAPS", "colour_map", "flow_colours"]

# Bytes R, G, B in hexadecimal, as in the sources of the front end.
_HEX = {
    "viridis": (
        "44015444025544035745055845065a45085b46095c460b5e460c5f460e61470f62471163471265471466"
        "47156747166947186a48196b481a6c481c6e481d6f481e70482071482172482273482374472575472676"
        "472777472878472a79472b7a472c7b462d7c462f7c46307d46317e45327f45347f453580453681443781"
        "443982433a83433b83433c84423d84423e854240854141864142864043874044873f45873f47883e4888"
        "3e49893d4a893d4b893d4c893c4d8a3c4e8a3b508a3b518a3a528b3a538b39548b39558b38568b38578c"
        "37588c37598c365a8c365b8c355c8c355d8c345e8d345f8d33608d33618d32628d32638d31648d31658d"
        "31668d30678d30688d2f698d2f6a8d2e6b8e2e6c8e2e6d8e2d6e8e2d6f8e2c708e2c718e2c728e2b738e"
        "2b748e2a758e2a768e2a778e29788e29798e287a8e287a8e287b8e277c8e277d8e277e8e267f8e26808e"
        "26818e25828e25838d24848d24858d24868d23878d23888d23898d22898d228a8d228b8d218c8d218d8c"
        "218e8c208f8c20908c20918c1f928c1f938b1f948b1f958b1f968b1e978a1e988a1e998a1e998a1e9a89"
        "1e9b891e9c891e9d881e9e881e9f881ea0871fa1871fa2861fa38620a48520a58521a68521a78422a784"
        "23a88323a98224aa8225ab8126ac8127ad8028ae7f29af7f2ab07e2bb17d2cb17d2eb27c2fb37b30b47a"
        "32b57a33b67935b77836b87738b97639b9763bba753dbb743ebc7340bd7242be7144be7045bf6f47c06e"
        "49c16d4bc26c4dc26b4fc36951c46853c56755c66657c66559c7645bc8625ec96160c96062ca5f64cb5d"
        "67cc5c69cc5b6bcd596dce5870ce5672cf5574d05477d05279d1517cd24f7ed24e81d34c83d34b86d449"
        "88d5478bd5468dd64490d64392d74195d73f97d83e9ad83c9dd93a9fd938a2da37a5da35a7db33aadb32"
        "addc30afdc2eb2dd2cb5dd2bb7dd29bade27bdde26bfdf24c2df22c5df21c7e01fcae01ecde01dcfe11c"
        "d2e11bd4e11ad7e219dae218dce218dfe318e1e318e4e318e7e419e9e419ece41aeee51bf1e51cf3e51e"
        "f6e61ff8e621fae622fde724"
    ),
    "magma": (
        "00000300000400000601000701010901010b02020d02020f03031104031304041505041706051907051b"
        "08061d09071f0a07220b08240c09260d0a280e0a2a0f0b2c100c2f110c31120d33140d35150e38160e3a"
        "170f3c180f3f1a10411b10441c10461e10491f114b20114d2211502311522511552611572811592a115c"
        "2b115e2d10602f1062301065321067341068350f6a370f6c390f6e3b0f6f3c0f713e0f72400f73420f74"
        "430f75450f76470f774810784a10794b10794d117a4f117b50127b52127c53137c55137d57147d58157e"
        "5a157e5b167e5d177e5e177f60187f61187f63197f651a80661a80681b80691c806b1c806c1d806e1e81"
        "6f1e81711f81731f817420817621817721817922817a22817c23817e24817f2481812581822581842681"
        "8526818727818928818a28818c29808d29808f2a80912a80922b80942b80952c80972c7f992d7f9a2d7f"
        "9c2e7f9e2e7e9f2f7ea12f7ea3307ea4307da6317da7317da9327cab337cac337bae347bb0347bb1357a"
        "b3357ab53679b63679b83778b93778bb3877bd3977be3976c03a75c23a75c33b74c53c74c63c73c83d72"
        "ca3e72cb3e71cd3f70ce4070d0416fd1426ed3426dd4436dd6446cd7456bd9466ada4769dc4869dd4968"
        "de4a67e04b66e14c66e24d65e44e64e55063e65162e75262e85461ea5560eb5660ec585fed595fee5b5e"
        "ee5d5def5e5df0605df1615cf2635cf3655cf3675bf4685bf56a5bf56c5bf66e5bf6705bf7715bf7735c"
        "f8755cf8775cf9795cf97b5df97d5dfa7f5efa805efa825ffb8460fb8660fb8861fb8a62fc8c63fc8e63"
        "fc9064fc9265fc9366fd9567fd9768fd9969fd9b6afd9d6bfd9f6cfda16efda26ffda470fea671fea873"
        "feaa74feac75feae76feaf78feb179feb37bfeb57cfeb77dfeb97ffebb80febc82febe83fec085fec286"
        "fec488fec689fec78bfec98dfecb8efdcd90fdcf92fdd193fdd295fdd497fdd698fdd89afdda9cfddc9d"
        "fddd9ffddfa1fde1a3fce3a5fce5a6fce6a8fce8aafceaacfcecaefceeb0fcf0b1fcf1b3fcf3b5fcf5b7"
        "fbf7b9fbf9bbfbfabdfbfcbf"
    ),
    "turbo": (
        "30123b31154232184a341b51351e5836215f37236538266c3929723a2c793b2f7f3c32853c358b3d3791"
        "3e3a963f3d9c4040a14043a64145ab4148b0424bb5434eba4350be4353c24456c74458cb455bce455ed2"
        "4560d64563d94666dd4668e0466be3466de64670e84673eb4675ed4678f0467af2467df4467ff64682f8"
        "4584f94587fb4589fc448cfd438efd4291fe4193fe4096fe3f98fe3e9bfe3c9dfd3ba0fc39a2fc38a5fb"
        "36a8f934aaf833acf631aff52fb1f32db4f12bb6ef2ab9ed28bbeb26bde925c0e623c2e421c4e120c6df"
        "1ec9dc1dcbda1ccdd71bcfd41ad1d219d3cf18d5cc18d7ca17d9c717dac417dcc217debf18e0bd18e1ba"
        "19e3b81ae4b61be5b41de7b11ee8af20e9ac22eba924eca627eda329eea02cef9d2ff09a32f19735f394"
        "38f4913bf48d3ff58a42f68746f7834af8804df97c51f97955fa7659fb725dfb6f61fc6c65fc6869fd65"
        "6dfd6271fd5f74fe5c78fe597cfe5680fe5384fe5087fe4d8bfe4b8efe4892fe4695fe4498fe429bfd40"
        "9efd3ea1fc3da4fc3ba6fb3aa9fb39acfa37aef937b1f836b3f835b6f735b9f534bbf434bef334c0f233"
        "c3f133c5ef33c8ee33caed33cdeb34cfea34d1e834d4e735d6e535d8e335dae236dde036dfde36e1dc37"
        "e3da37e5d838e7d738e8d538ead339ecd139edcf39efcd39f0cb3af2c83af3c63af4c43af6c23af7c039"
        "f8be39f9bc39f9ba38fab737fbb537fbb336fcb035fcae34fdab33fda932fda631fda330fea12ffe9e2e"
        "fe9b2dfe982cfd952bfd9229fd8f28fd8c27fc8926fc8624fb8323fb8022fa7d20fa7a1ff9771ef8741c"
        "f7711bf76e1af66b18f56817f46516f36315f26014f15d13ef5a11ee5810ed550fec520eea500de94d0d"
        "e84b0ce6490be5460ae3440ae24209e04008de3e08dd3c07db3a07d93806d73606d63405d43205d23005"
        "d02f04ce2d04cb2b03c92903c72803c52602c32402c02302be2102bb1f01b91e01b61c01b41b01b11901"
        "ae1801ac1601a91501a61401a31201a011019d10019a0e01970d01940c01910b018e0a018b0901870801"
        "8407018106027d05027a0402"
    ),
}
MAPS = ("gray", *_HEX)

# Lengths of the arcs of the wheel, and whether its colours grow: red, yellow, green, cyan, blue,
# magenta.
_ARCS = (15, 6, 4, 11, 13, 6)


@cache
def colour_map(name: str) -> Any:
    """256 colours: uint8, (256, 3)."""
    if name == "gray":
        return np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    return np.frombuffer(bytes.fromhex(_HEX[name]), np.uint8).reshape(256, 3)


@cache
def _wheel() -> Any:
    """The 55 colours of Baker and others (Middlebury)."""
    wheel = np.zeros((sum(_ARCS), 3))
    at = 0
    for arc, length in enumerate(_ARCS):
        ramp = np.floor(255 * np.arange(length) / length)
        rows = wheel[at : at + length]
        # One colour is full, and the next one grows; then the first one fades.
        if arc % 2 == 0:
            rows[:, arc // 2], rows[:, (arc // 2 + 1) % 3] = 255, ramp
        else:
            rows[:, arc // 2], rows[:, (arc // 2 + 1) % 3] = 255 - ramp, 255
        at += length
    return wheel / 255


def flow_colours(right: Any, down: Any, largest: float) -> Any:
    """The colour of each motion: the hue is its direction, and white is none.

    Parameters
    ----------
    right, down : ndarray
    largest : float
        The motion that has a full colour; longer ones are darker.
    """
    u, v = right / largest, down / largest
    radius = np.hypot(u, v)
    wheel = _wheel()
    position = (np.arctan2(-v, -u) / np.pi + 1) / 2 * (len(wheel) - 1)
    first = np.floor(position).astype(np.intp)
    part = (position - first)[..., None]
    colour = (1 - part) * wheel[first % len(wheel)] + part * wheel[(first + 1) % len(wheel)]
    reach = radius[..., None]
    colour = np.where(reach <= 1, 1 - reach * (1 - colour), colour * 0.75)
    return np.floor(255 * colour + 1e-6).astype(np.uint8)
