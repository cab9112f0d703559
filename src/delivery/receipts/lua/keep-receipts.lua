--[[ keep-receipts: receipts of deliveries that are not in the queue, such as those of a digest; or the open ones become an entry of the stream.
  Atomic because: two processes that made an entry of the same open receipts would repeat them.
  KEYS 1 receipts · 2 open receipts    ARGV 1 lines of receipts or "" · 2 how many are kept · 3 "over": the open ones become an entry, however few | ""
  RETURN nothing    Cost O(receipts given). Never calls TIME. ]]
--- @include "receipts"
keepReceipts(KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), ARGV[3] == 'over')
