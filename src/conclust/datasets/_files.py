"""From stored files to their content: checksum first, then the parser; nothing is unpickled."""

import csv
import gzip
import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from conclust.datasets._content import Content
from conclust.datasets._registry import Dataset
from conclust.exceptions import DatasetNotFoundError


def missing_files(dataset: Dataset, folder: Path) -> list[str]:
    """The files of a set that a folder does not hold."""
    return [file for file in dataset.files if not (folder / file).is_file()]


def read_files(dataset: Dataset, folder: Path) -> Content:
    """The content of a set from a folder that holds all its files."""
    blobs = [_verified_bytes(folder / file) for file in dataset.files]
    return READERS[dataset.layout](dataset, blobs)


def _verified_bytes(path: Path) -> bytes:
    # Hash what is parsed, not the file a second time: it might change in between.
    blob = path.read_bytes()
    found, expected = hashlib.sha256(blob).hexdigest(), SHA256[path.name]
    if found != expected:
        raise DatasetNotFoundError(
            f"{path} is not the file the registry knows: its sha256 is {found}, expected "
            f"{expected}. It is damaged, or another version; nothing was read. "
            "Replace it by a good copy, or remove it to let the next source serve."
        )
    return blob


def _read_table(dataset: Dataset, blobs: list[bytes]) -> Content:
    header, *lines = gzip.decompress(blobs[0]).decode("utf-8").splitlines()
    numbers, labels = zip(*(line.rsplit(",", 1) for line in lines), strict=True)
    data = np.loadtxt(numbers, delimiter=",", comments=None, dtype=dataset.dtype, ndmin=2)
    return Content(data, np.array(labels), header.split(",")[:-1])


def _read_texts(dataset: Dataset, blobs: list[bytes]) -> Content:
    ids, labels, *views = _columns(blobs[0])
    return Content(views, np.array(labels), [None] * len(views), np.array(ids))


def _read_views(dataset: Dataset, blobs: list[bytes]) -> Content:
    *matrices, table = blobs
    views = [sp.csr_array(sp.load_npz(io.BytesIO(matrix))) for matrix in matrices]
    ids, labels = _columns(table)
    data = [view.astype(dataset.dtype) for view in views]
    return Content(data, np.array(labels), [None] * len(views), np.array(ids))


def _read_images(dataset: Dataset, blobs: list[bytes]) -> Content:
    with np.load(io.BytesIO(blobs[0]), allow_pickle=False) as arrays:
        data, labels = arrays["X"], arrays["y"].astype(str)
    return Content(data, labels, [f"p{pixel}" for pixel in range(data.shape[1])])


def _read_cover(dataset: Dataset, blobs: list[bytes]) -> Content:
    with np.load(io.BytesIO(blobs[0]), allow_pickle=False) as arrays:
        columns = {name: arrays[name] for name in arrays.files}
    labels = columns.pop("label").astype(str)
    groups = {"wilderness": 4, "soil": 40}
    codes = {group: columns.pop(group) for group in groups}
    names = list(columns) + [f"{g}_{k}" for g, size in groups.items() for k in range(1, size + 1)]

    data = np.zeros((len(labels), len(names)), dtype=dataset.dtype)
    data[:, : len(columns)] = np.column_stack(list(columns.values()))
    rows = np.arange(len(labels))
    for group, code in codes.items():
        data[rows, names.index(f"{group}_1") + code.astype(np.intp) - 1] = 1
    return Content(data, labels, names)


def _columns(blob: bytes) -> list[list[str]]:
    # newline="": line ends inside quoted text are part of it.
    text = io.StringIO(gzip.decompress(blob).decode("utf-8"), newline="")
    _, *rows = csv.reader(text)
    return [list(column) for column in zip(*rows, strict=True)]


READERS: dict[str, Callable[[Dataset, list[bytes]], Content]] = {
    "table": _read_table,
    "texts": _read_texts,
    "views": _read_views,
    "images": _read_images,
    "cover": _read_cover,
}


# As ``sha256sum`` writes them.
_LINES = """
4e9747d973d8298c0229b991a854424a787614477079d8b6c52b740060f160f0  iris.csv.gz
dcd7f453f4184242e0a23159ff05ed6cce3d6e1614e29e6312064feea901bc0b  iris_uci.csv.gz
73d487ed4d9ff4c56fbe97d9ded3cdd774a96c0dd2a7274606204ea31b618150  wine.csv.gz
cd62187dc9b54c39812ed55e17fb81ba335a33aecb86258cf85ece846cf9771a  wdbc.csv.gz
160e3210eb4544453ba82c275e7dd9ca47bb898647ae75f1314bb39de728cf2a  parkinsons.csv.gz
e648a78c268debd739b9ffb46db7d42cd9651ed2904d64dbaed106f7899f2df5  sonar.csv.gz
16b1e08b7b27e2eec34d077c252b43b739dd8156447b325612cc318d9d9a5eb6  segmentation_210.csv.gz
99738e707f1387c0a1a5bc92021d3e28535275f6e07b0c9e955c37676ad0ae15  segmentation_2310.csv.gz
f067535f37ccbec861efbcd8657c91a7fbb61719676c9337ba2b5252e92b23b6  glass.csv.gz
fd470413cf675a834af0a6002d97ae73ab99c3e639e3908d8c92d68e2a2d6dbc  ionosphere.csv.gz
a1c0dc54e260d92a6be10992e43515e6c537af23d2d82c1f1bcc46d22ba662d5  balance.csv.gz
c0b2f6bf0e8a3ac20fecf2a4f159b51f67e9d6aad9daf99d181a7d6d7023c638  vowel.csv.gz
70238ab9fc8b7d9652c95e6af72072f19a1c42c08db423061901475a64effbe9  usps.csv.gz
106d7f5ef9b111d23654b6d3d0edc4a7aef4621beb1fc3686b9a89a495c78539  usps_roweis.csv.gz
f7b68a23c5e4ca8b0a17ee28fcdda726ec097be9503eb3509f1c7c620049723e  semeion.csv.gz
a60cdb2a606f4f8bafd1637cdc93aa86400f53bdd0bf811a9e02302f5821ba17  pendigits.csv.gz
749bde60fbebd492836e19aa135e80a5220d4fa0dc6391d89d9d1fa4ba8cdbe3  transfusion.csv.gz
b78838e342f304b0fa055b9da813b7d407429e6ca5b25d8767e9ded294c6e08f  letter.csv.gz
e861eacf308d8650aa2055945e10d30ee7a64536e614850ddda0ccf45ba96195  monks1_full.csv.gz
8988df46c46da41ae362e1ab0ac3dc48f6bc66b4391e955f0d0515eac2741e37  monks1_train.csv.gz
19a60d4909d0995498cac6ac04dd0284d30da1849c87cfcd2614d9cc0c554abd  monks2_full.csv.gz
41190377136705df4d0ec68a9f8646756029442c36b773ae3ff2346b777aa32b  monks2_train.csv.gz
e1b429b4770d6eba63adc96b6ff3d949e0f82a98d0cb89e557b38815220b830b  monks3_full.csv.gz
34edc07dd47cb25117cf83270dd6420b7780334245e8fba51fad4c752a4b08ef  monks3_train.csv.gz
baa3b1e6890ecd6b3f79d001cf3aa0b9c98593bda8f527e482d3d8e65ae81023  webkb_course.csv.gz
dacb28b50ad7e6a3c7ca4240296e60270f04a7e675f3ad1d5e02462211a37bea  webkb_course_tfidf_view1_pages.npz
42d5760809512124f4092c950b3bf294f28e6faf428b167382d0586a1d8dc528  webkb_course_tfidf_view2_links.npz
2de679c4a7bfd6c5ae15230f659f47bb89e5e6b2b03df7ba178d9b11cc24bb2a  webkb_course_tfidf_labels.csv.gz
64c41daaabe19dd415a855c3d7665a111d6b5c0ceb5e74739b6fdb3cece83e51  mfeat_fac.csv.gz
11c4be0a68aa6c32f7a9bbaf08677721829e861986993f20017240fef1f647cc  mfeat_fou.csv.gz
06a98482a0eeceeb9524720755e42b9effa0ac9c0967f0411b69abde463a15cb  mfeat_kar.csv.gz
e93072f459f5c6c2d570d636cdf6df756c3626529d667cde6e7d1f276ae25401  mfeat_mor.csv.gz
b12d8b1a15edd9e3ff7361170eec2961faf7816d3963f4937d19c1a094513490  mfeat_pix.csv.gz
e86a25e45e99b22d677f04aa2f6939b47a0dea029ad49deea5104cfcb9d67aab  mfeat_zer.csv.gz
0eecb5f22214b7c65dbdb3c7383bfeab4e8002d7d755b53572ec118acd30c780  3sources_view1_bbc.npz
0b4416a2c4e0454eb3ff48654d6267c4d2450a96ca7b3c3fb0e7a97e4f44a1a1  3sources_view2_guardian.npz
18d40ca58ea645922a7a41f83fa5a6aef56af70449d397cceef1ddb103a40db6  3sources_view3_reuters.npz
c9e2dadd0e7125de2a4d4aae3178a099008f3618b7bfbd6be909ba2a3d2f6204  3sources_labels.csv.gz
e783491c2192e258bff6b0321f032396d39ae1d437f80da38a74808ce4a043a1  bbcsport_view1.npz
17ae74e8d0984a2b4b2ad76db0beb22ffcaad25f36e341362afd31cc72dd6375  bbcsport_view2.npz
f724abc807e0bbf702c8ed705e4b65851a7f6f49e64a95e7ce23f86138ed3c19  bbcsport_labels.csv.gz
0085b345ab8ced039c4418fe43fe773ee514bfd78779258a3d2e1efc3837abbf  mnist.npz
72cffdc47a221dc398c83dac144e43b147e3b70e8c7f44b14dec0bc040a4de56  covtype.npz
"""

SHA256 = {file: digest for digest, file in map(str.split, _LINES.strip().splitlines())}
