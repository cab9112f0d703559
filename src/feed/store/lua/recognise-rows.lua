--[[ recognise-rows: says which rows of a list were seen before, of a list whose rows are only recognised.
  A script, because the digests of a bucket are one text, of which the caller needs one bit.
  KEYS 1 rows    ARGV rows × (bucket, digest of 8 bytes)
  RETURN 1 or 0 for each row    Cost O(rows × digests in a bucket). Never calls TIME. ]]
local known = {}
for i = 1, #ARGV, 2 do
  local bucket, at = redis.call('HGET', KEYS[1], ARGV[i]) or '', 1
  repeat
    at = string.find(bucket, ARGV[i + 1], at, true)
    local isWhole = at and at % 8 == 1
    at = at and at + 1
  until not at or isWhole
  known[#known + 1] = at and 1 or 0
end
return known
