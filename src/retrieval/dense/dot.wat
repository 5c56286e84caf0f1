;; The inner loop of exact vector search: inner products (or distances) of stored vectors with four queries at a time, so that each
;; stored number is loaded once for four products. docs/adr/0005-dense-retrieval.md compares it with the best plain loop.
;;
;; Every function takes the address of the first record, how many records (at least 1), the address of four queries, the
;; address of the scores (f32, [records, 4]) and the bytes of a record. The four queries are interleaved by 16 bytes: the
;; first 16 bytes of each, then the next 16 of each. A record holds a multiple of 8 numbers; zeros fill it up.
(module
  (import "env" "memory" (memory 1))

  ;; Records and queries of f32.
  (func (export "dotF32")
    (param $record i32) (param $count i32) (param $queries i32) (param $scores i32) (param $recordBytes i32)
    (local $query i32) (local $at i32) (local $recordEnd i32) (local $x v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) ;; the sums of the four queries
    (loop $records
      (local.set $a (v128.const i32x4 0 0 0 0))
      (local.set $b (v128.const i32x4 0 0 0 0))
      (local.set $c (v128.const i32x4 0 0 0 0))
      (local.set $d (v128.const i32x4 0 0 0 0))
      (local.set $at (local.get $record))
      (local.set $recordEnd (i32.add (local.get $record) (local.get $recordBytes)))
      (local.set $query (local.get $queries))
      (loop $eight
        (local.set $x (v128.load offset=0 (local.get $at)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (v128.load offset=0 (local.get $query)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $x) (v128.load offset=16 (local.get $query)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $x) (v128.load offset=32 (local.get $query)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $x) (v128.load offset=48 (local.get $query)))))
        (local.set $x (v128.load offset=16 (local.get $at)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (v128.load offset=64 (local.get $query)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $x) (v128.load offset=80 (local.get $query)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $x) (v128.load offset=96 (local.get $query)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $x) (v128.load offset=112 (local.get $query)))))
        (local.set $query (i32.add (local.get $query) (i32.const 128)))
        (local.set $at (i32.add (local.get $at) (i32.const 32)))
        (br_if $eight (i32.lt_u (local.get $at) (local.get $recordEnd))))
      (f32.store offset=0 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
        (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
      (f32.store offset=4 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $b)) (f32x4.extract_lane 1 (local.get $b)))
        (f32.add (f32x4.extract_lane 2 (local.get $b)) (f32x4.extract_lane 3 (local.get $b)))))
      (f32.store offset=8 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $c)) (f32x4.extract_lane 1 (local.get $c)))
        (f32.add (f32x4.extract_lane 2 (local.get $c)) (f32x4.extract_lane 3 (local.get $c)))))
      (f32.store offset=12 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $d)) (f32x4.extract_lane 1 (local.get $d)))
        (f32.add (f32x4.extract_lane 2 (local.get $d)) (f32x4.extract_lane 3 (local.get $d)))))
      (local.set $record (local.get $recordEnd))
      (local.set $scores (i32.add (local.get $scores) (i32.const 16)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $records (local.get $count))))

  ;; Squared distances of f32 records, negated so that the nearest has the largest score.
  (func (export "l2F32")
    (param $record i32) (param $count i32) (param $queries i32) (param $scores i32) (param $recordBytes i32)
    (local $query i32) (local $at i32) (local $recordEnd i32) (local $x v128) (local $difference v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) ;; the sums of the four queries
    (loop $records
      (local.set $a (v128.const i32x4 0 0 0 0))
      (local.set $b (v128.const i32x4 0 0 0 0))
      (local.set $c (v128.const i32x4 0 0 0 0))
      (local.set $d (v128.const i32x4 0 0 0 0))
      (local.set $at (local.get $record))
      (local.set $recordEnd (i32.add (local.get $record) (local.get $recordBytes)))
      (local.set $query (local.get $queries))
      (loop $eight
        (local.set $x (v128.load offset=0 (local.get $at)))
        (local.set $difference (f32x4.sub (local.get $x) (v128.load offset=0 (local.get $query))))
        (local.set $a (f32x4.sub (local.get $a) (f32x4.mul (local.get $difference) (local.get $difference))))
        (local.set $difference (f32x4.sub (local.get $x) (v128.load offset=16 (local.get $query))))
        (local.set $b (f32x4.sub (local.get $b) (f32x4.mul (local.get $difference) (local.get $difference))))
        (local.set $difference (f32x4.sub (local.get $x) (v128.load offset=32 (local.get $query))))
        (local.set $c (f32x4.sub (local.get $c) (f32x4.mul (local.get $difference) (local.get $difference))))
        (local.set $difference (f32x4.sub (local.get $x) (v128.load offset=48 (local.get $query))))
        (local.set $d (f32x4.sub (local.get $d) (f32x4.mul (local.get $difference) (local.get $difference))))
        (local.set $x (v128.load offset=16 (local.get $at)))
        (local.set $difference (f32x4.sub (local.get $x) (v128.load offset=64 (local.get $query))))
        (local.set $a (f32x4.sub (local.get $a) (f32x4.mul (local.get $difference) (local.get $difference))))
        (local.set $difference (f32x4.sub (local.get $x) (v128.load offset=80 (local.get $query))))
        (local.set $b (f32x4.sub (local.get $b) (f32x4.mul (local.get $difference) (local.get $difference))))
        (local.set $difference (f32x4.sub (local.get $x) (v128.load offset=96 (local.get $query))))
        (local.set $c (f32x4.sub (local.get $c) (f32x4.mul (local.get $difference) (local.get $difference))))
        (local.set $difference (f32x4.sub (local.get $x) (v128.load offset=112 (local.get $query))))
        (local.set $d (f32x4.sub (local.get $d) (f32x4.mul (local.get $difference) (local.get $difference))))
        (local.set $query (i32.add (local.get $query) (i32.const 128)))
        (local.set $at (i32.add (local.get $at) (i32.const 32)))
        (br_if $eight (i32.lt_u (local.get $at) (local.get $recordEnd))))
      (f32.store offset=0 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
        (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
      (f32.store offset=4 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $b)) (f32x4.extract_lane 1 (local.get $b)))
        (f32.add (f32x4.extract_lane 2 (local.get $b)) (f32x4.extract_lane 3 (local.get $b)))))
      (f32.store offset=8 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $c)) (f32x4.extract_lane 1 (local.get $c)))
        (f32.add (f32x4.extract_lane 2 (local.get $c)) (f32x4.extract_lane 3 (local.get $c)))))
      (f32.store offset=12 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $d)) (f32x4.extract_lane 1 (local.get $d)))
        (f32.add (f32x4.extract_lane 2 (local.get $d)) (f32x4.extract_lane 3 (local.get $d)))))
      (local.set $record (local.get $recordEnd))
      (local.set $scores (i32.add (local.get $scores) (i32.const 16)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $records (local.get $count))))

  ;; Records of IEEE halves, queries of f32. A half becomes an f32 when exponent and fraction move to their place there,
  ;; times 2^112 for the other bias of the exponent (right for subnormals too), and then the sign is added.
  (func (export "dotF16")
    (param $record i32) (param $count i32) (param $queries i32) (param $scores i32) (param $recordBytes i32)
    (local $query i32) (local $at i32) (local $recordEnd i32) (local $x v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) ;; the sums of the four queries
    (loop $records
      (local.set $a (v128.const i32x4 0 0 0 0))
      (local.set $b (v128.const i32x4 0 0 0 0))
      (local.set $c (v128.const i32x4 0 0 0 0))
      (local.set $d (v128.const i32x4 0 0 0 0))
      (local.set $at (local.get $record))
      (local.set $recordEnd (i32.add (local.get $record) (local.get $recordBytes)))
      (local.set $query (local.get $queries))
      (loop $eight
        (local.set $x (v128.load16x4_u offset=0 (local.get $at)))
        (local.set $x (v128.or
          (f32x4.mul
            (i32x4.shl (v128.and (local.get $x) (v128.const i32x4 0x7fff 0x7fff 0x7fff 0x7fff)) (i32.const 13))
            (v128.const f32x4 0x1p112 0x1p112 0x1p112 0x1p112))
          (i32x4.shl (v128.and (local.get $x) (v128.const i32x4 0x8000 0x8000 0x8000 0x8000)) (i32.const 16))))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (v128.load offset=0 (local.get $query)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $x) (v128.load offset=16 (local.get $query)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $x) (v128.load offset=32 (local.get $query)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $x) (v128.load offset=48 (local.get $query)))))
        (local.set $x (v128.load16x4_u offset=8 (local.get $at)))
        (local.set $x (v128.or
          (f32x4.mul
            (i32x4.shl (v128.and (local.get $x) (v128.const i32x4 0x7fff 0x7fff 0x7fff 0x7fff)) (i32.const 13))
            (v128.const f32x4 0x1p112 0x1p112 0x1p112 0x1p112))
          (i32x4.shl (v128.and (local.get $x) (v128.const i32x4 0x8000 0x8000 0x8000 0x8000)) (i32.const 16))))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (v128.load offset=64 (local.get $query)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $x) (v128.load offset=80 (local.get $query)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $x) (v128.load offset=96 (local.get $query)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $x) (v128.load offset=112 (local.get $query)))))
        (local.set $query (i32.add (local.get $query) (i32.const 128)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $eight (i32.lt_u (local.get $at) (local.get $recordEnd))))
      (f32.store offset=0 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
        (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
      (f32.store offset=4 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $b)) (f32x4.extract_lane 1 (local.get $b)))
        (f32.add (f32x4.extract_lane 2 (local.get $b)) (f32x4.extract_lane 3 (local.get $b)))))
      (f32.store offset=8 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $c)) (f32x4.extract_lane 1 (local.get $c)))
        (f32.add (f32x4.extract_lane 2 (local.get $c)) (f32x4.extract_lane 3 (local.get $c)))))
      (f32.store offset=12 (local.get $scores) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $d)) (f32x4.extract_lane 1 (local.get $d)))
        (f32.add (f32x4.extract_lane 2 (local.get $d)) (f32x4.extract_lane 3 (local.get $d)))))
      (local.set $record (local.get $recordEnd))
      (local.set $scores (i32.add (local.get $scores) (i32.const 16)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $records (local.get $count))))

  ;; Records of a scale (f32) and bytes, queries of 16-bit integers.
  (func (export "dotInt8")
    (param $record i32) (param $count i32) (param $queries i32) (param $scores i32) (param $recordBytes i32)
    (local $query i32) (local $at i32) (local $recordEnd i32) (local $x v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) ;; the sums of the four queries
    (loop $records
      (local.set $a (v128.const i32x4 0 0 0 0))
      (local.set $b (v128.const i32x4 0 0 0 0))
      (local.set $c (v128.const i32x4 0 0 0 0))
      (local.set $d (v128.const i32x4 0 0 0 0))
      (local.set $at (i32.add (local.get $record) (i32.const 4)))
      (local.set $recordEnd (i32.add (local.get $record) (local.get $recordBytes)))
      (local.set $query (local.get $queries))
      (loop $eight
        (local.set $x (v128.load8x8_s (local.get $at)))
        (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s (local.get $x) (v128.load offset=0 (local.get $query)))))
        (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s (local.get $x) (v128.load offset=16 (local.get $query)))))
        (local.set $c (i32x4.add (local.get $c) (i32x4.dot_i16x8_s (local.get $x) (v128.load offset=32 (local.get $query)))))
        (local.set $d (i32x4.add (local.get $d) (i32x4.dot_i16x8_s (local.get $x) (v128.load offset=48 (local.get $query)))))
        (local.set $query (i32.add (local.get $query) (i32.const 64)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br_if $eight (i32.lt_u (local.get $at) (local.get $recordEnd))))
      (f32.store offset=0 (local.get $scores) (f32.mul (f32.load (local.get $record)) (f32.convert_i32_s (i32.add
        (i32.add (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))
        (i32.add (i32x4.extract_lane 2 (local.get $a)) (i32x4.extract_lane 3 (local.get $a)))))))
      (f32.store offset=4 (local.get $scores) (f32.mul (f32.load (local.get $record)) (f32.convert_i32_s (i32.add
        (i32.add (i32x4.extract_lane 0 (local.get $b)) (i32x4.extract_lane 1 (local.get $b)))
        (i32.add (i32x4.extract_lane 2 (local.get $b)) (i32x4.extract_lane 3 (local.get $b)))))))
      (f32.store offset=8 (local.get $scores) (f32.mul (f32.load (local.get $record)) (f32.convert_i32_s (i32.add
        (i32.add (i32x4.extract_lane 0 (local.get $c)) (i32x4.extract_lane 1 (local.get $c)))
        (i32.add (i32x4.extract_lane 2 (local.get $c)) (i32x4.extract_lane 3 (local.get $c)))))))
      (f32.store offset=12 (local.get $scores) (f32.mul (f32.load (local.get $record)) (f32.convert_i32_s (i32.add
        (i32.add (i32x4.extract_lane 0 (local.get $d)) (i32x4.extract_lane 1 (local.get $d)))
        (i32.add (i32x4.extract_lane 2 (local.get $d)) (i32x4.extract_lane 3 (local.get $d)))))))
      (local.set $record (local.get $recordEnd))
      (local.set $scores (i32.add (local.get $scores) (i32.const 16)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $records (local.get $count)))))
